package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/uplink"
)

func (s *Server) serveUplinks(*http.Request) (any, error) { return s.box.ListUplinks() }

func (s *Server) serveAddUplink(r *http.Request, c uplink.Config) (any, error) {
	return struct{}{}, s.box.AddUplink(r.Context(), actor(r), c)
}

func (s *Server) serveChangeUplink(r *http.Request, c uplink.Config) (any, error) {
	return struct{}{}, s.box.ChangeUplink(r.Context(), actor(r), r.PathValue("name"), c)
}

func (s *Server) serveRemoveUplink(r *http.Request) (any, error) {
	return struct{}{}, s.box.RemoveUplink(r.Context(), actor(r), r.PathValue("name"))
}

func (s *Server) serveTestUplink(r *http.Request) (any, error) {
	return s.box.TestNamedUplink(r.Context(), r.PathValue("name"))
}

// addUplink makes an uplink of its flags.
func addUplink(flags *flag.FlagSet) action {
	change := uplinkFlags(flags)
	return withArgument("a name for the uplink, such as house", func(ctx context.Context, c command, name string) error {
		config := uplink.Config{Name: name}
		if err := change(&config); err != nil {
			return err
		}
		return ask(ctx, c, http.MethodPost, "/uplinks", config, func(w io.Writer, _ struct{}) {
			fmt.Fprintf(w, "uplink %s is made: sensegate uplink test %s tells whether it works\n", name, name)
		})
	})
}

// changeUplink changes of an uplink what its flags say.
func changeUplink(flags *flag.FlagSet) action {
	change := uplinkFlags(flags)
	return withArgument("the uplink's name, as uplink list shows it", func(ctx context.Context, c command, name string) error {
		var all []uplink.State
		if err := c.client.do(ctx, http.MethodGet, "/uplinks", nil, &all); err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(s uplink.State) bool { return s.Config.Name == name })
		if i < 0 {
			return fmt.Errorf("uplink %.40q: not found", name)
		}
		config := all[i].Config
		if err := change(&config); err != nil {
			return err
		}
		return ask(ctx, c, http.MethodPut, "/uplinks/"+url.PathEscape(name), config, func(w io.Writer, _ struct{}) {
			fmt.Fprintf(w, "uplink %s is changed\n", name)
		})
	})
}

// uplinkFlags declares the flags of a configuration and returns what sets those that are given.
func uplinkFlags(flags *flag.FlagSet) func(*uplink.Config) error {
	var given []func(*uplink.Config) error
	text := func(name, usage string, set func(c *uplink.Config, value string) error) {
		flags.Func(name, usage, func(value string) error {
			given = append(given, func(c *uplink.Config) error { return set(c, value) })
			return nil
		})
	}
	field := func(name, usage string, of func(*uplink.Config) *string) {
		text(name, usage, func(c *uplink.Config, value string) error { *of(c) = value; return nil })
	}
	file := func(name, usage string, read func(string) (string, error), of func(*uplink.Config) *string) {
		text(name, usage, func(c *uplink.Config, value string) (err error) { *of(c), err = read(value); return err })
	}
	toggle := func(name, usage string, of func(*uplink.HomeAssistantConfig) *bool) {
		flags.BoolFunc(name, usage, func(value string) error {
			if value != "true" && value != "false" {
				return errors.New("want true or false")
			}
			given = append(given, func(c *uplink.Config) error { *of(&c.HomeAssistant) = value == "true"; return nil })
			return nil
		})
	}
	field("url", "mqtt://host, mqtts://host, ws://host/path, wss://host/path; https://host/path for Remote Write; own", func(c *uplink.Config) *string { return &c.URL })
	text("use", "what it is used for: some of home_assistant,events,history,commands,live", func(c *uplink.Config, value string) error {
		c.Use = nil
		for use := range strings.SplitSeq(value, ",") {
			c.Use = append(c.Use, uplink.Use(strings.TrimSpace(use)))
		}
		return nil
	})
	field("username", "user name at the broker", func(c *uplink.Config) *string { return &c.Username })
	file("password-file", "file with the password, - for standard input", firstLine, func(c *uplink.Config) *string { return &c.Password })
	file("ca", "file with the certificates that the broker's must come from", wholeFile, func(c *uplink.Config) *string { return &c.CA })
	file("client-certificate", "file with the own certificate", wholeFile, func(c *uplink.Config) *string { return &c.ClientCertificate })
	file("client-key", "file with its key", wholeFile, func(c *uplink.Config) *string { return &c.ClientKey })
	field("client-id", "client id; empty: sensegate-<box>", func(c *uplink.Config) *string { return &c.ClientID })
	field("prefix", "of every topic; empty: sensegate", func(c *uplink.Config) *string { return &c.Prefix })
	text("networks", "Core ids such as 1,2; empty: all", func(c *uplink.Config, value string) error {
		c.Networks = nil
		for id := range strings.SplitSeq(value, ",") {
			if id == "" {
				continue
			}
			network, err := motion.ParseNetworkID(strings.TrimSpace(id))
			if err != nil {
				return err
			}
			c.Networks = append(c.Networks, network)
		}
		return nil
	})
	field("discovery-prefix", "of Home Assistant; empty: homeassistant", func(c *uplink.Config) *string { return &c.HomeAssistant.DiscoveryPrefix })
	toggle("legacy-discovery", "for Home Assistant before 2024.12", func(h *uplink.HomeAssistantConfig) *bool { return &h.LegacyDiscovery })
	toggle("read-only", "no commands of Home Assistant", func(h *uplink.HomeAssistantConfig) *bool { return &h.ReadOnly })
	toggle("members", "tell whether members are at home", func(h *uplink.HomeAssistantConfig) *bool { return &h.Members })
	toggle("alarm", "an alarm control panel", func(h *uplink.HomeAssistantConfig) *bool { return &h.Alarm })
	toggle("incoming", "sensors of other makers at the broker become the household's", func(h *uplink.HomeAssistantConfig) *bool { return &h.Incoming })
	return func(c *uplink.Config) error {
		for _, set := range given {
			if err := set(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// wholeFile returns the content of a file; "" of no name.
func wholeFile(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	raw, err := os.ReadFile(name)
	return string(raw), err
}

// testUplink tries an uplink that is there; it fails when a step does.
func testUplink(ctx context.Context, c command, name string) error {
	var steps []uplink.TestStep
	if err := c.client.do(ctx, http.MethodPost, "/uplinks/"+url.PathEscape(name)+"/test", nil, &steps); err != nil {
		return err
	}
	err := c.print(steps, func(w io.Writer) {
		for _, step := range steps {
			mark := "ok"
			if !step.OK {
				mark = "FAILED"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", step.Step, mark, step.Text)
		}
	})
	if err == nil && slices.ContainsFunc(steps, func(s uplink.TestStep) bool { return !s.OK }) {
		err = errors.New("the uplink does not work")
	}
	return err
}

func showUplinks(w io.Writer, all []uplink.State) {
	fmt.Fprintln(w, "NAME\tFROM\tSTATE\tSINCE\tQUEUE\tSENT\tDROPPED\tSENDS")
	for _, u := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", u.Config.Name, u.Origin, u.Phase, when(u.Since), u.Queue, u.Sent, u.Dropped, u.Sends)
	}
	for _, u := range all {
		if u.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", u.Config.Name, u.Error)
		}
	}
}

// uplinkLine returns an uplink for the status in one line.
func uplinkLine(u uplink.State) string {
	text := fmt.Sprintf("%s since %s, sends %s", u.Phase, when(u.Since), u.Sends)
	if u.Queue > 0 {
		text += fmt.Sprintf("; %d wait", u.Queue)
	}
	if u.Missing > 0 {
		text += fmt.Sprintf("; %d events were no longer kept", u.Missing)
	}
	if u.Error != "" {
		text += "; " + u.Error
	}
	return text
}
