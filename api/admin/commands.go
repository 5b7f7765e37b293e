package admin

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// ErrUsage is returned for a wrong command line, after the message about it was written.
var ErrUsage = errors.New("usage")

// Usage lists the commands of this package.
const Usage = `  apikey create NAME [-write] [-network ID | -all-networks] [-expires 2160h] [-scope core:read]
  apikey list | revoke ID
  device list | remove ID
  device adopt ID              let in a device that waits, named by its entry or device id
  device adopt -window 10m [-network ID]
                               let new devices into one network; without -network
                               into networks without an owner and into new ones
  links [NETWORK]              how each link senses, and why it cannot
  calibrate NETWORK [LINK] [-cancel]
  mqttuser create NAME [-prefix TOPIC] | list | remove NAME
  outbox list | show ID
  setup-code                   make the code that the first owner is made with
  backup [-o FILE] [-passphrase-file FILE]
  restore FILE [-passphrase-file FILE]
  db stat | check | compact
  status                       how the appliance, its devices and its disk are
  user create EMAIL | password EMAIL [-password-file FILE] | list | delete EMAIL [-networks]
`

// command is one administration command that is being run.
type command struct {
	client   *Client // nil: the command is for an appliance that does not run
	stateDir string
	out      io.Writer
	json     bool
}

// Run runs one command, such as "apikey", "list", for the appliance of a state directory, and
// writes the answer to out. flags are the words after the command; -state-dir and -json go
// with every one.
func Run(ctx context.Context, stateDir string, words []string, out, errOut io.Writer) error {
	name, run := find(words)
	if run == nil {
		fmt.Fprintf(errOut, "%s: no such command; there are:\n%s", name, Usage)
		return ErrUsage
	}
	flags := flag.NewFlagSet("sensegate "+name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	c := command{out: out}
	flags.BoolVar(&c.json, "json", false, "print the answer as JSON")
	flags.StringVar(&stateDir, "state-dir", stateDir, "state directory of the appliance")
	act := run(flags)
	arguments, err := interspersed(flags, words[len(strings.Fields(name)):])
	if err != nil {
		return ErrUsage
	}
	c.stateDir = stateDir
	if name == "restore" || name == "db compact" {
		return act(ctx, c, arguments)
	}
	if c.client, err = Open(ctx, stateDir, errOut); err != nil {
		return err
	}
	return errors.Join(act(ctx, c, arguments), c.client.Close())
}

// find returns the command that words begin with, of one word or two; nil: there is none.
func find(words []string) (name string, run func(*flag.FlagSet) action) {
	all := commands()
	for n := min(2, len(words)); n > 0 && run == nil; n-- {
		name = strings.Join(words[:n], " ")
		run = all[name]
	}
	return name, run
}

// interspersed parses flags before, between and after the arguments.
func interspersed(flags *flag.FlagSet, words []string) (arguments []string, err error) {
	for {
		if err := flags.Parse(words); err != nil {
			return nil, err
		}
		words = flags.Args()
		if len(words) == 0 {
			return arguments, nil
		}
		arguments, words = append(arguments, words[0]), words[1:]
	}
}

// action runs a command whose flags have been parsed.
type action func(ctx context.Context, c command, arguments []string) error

// commands returns each command by name: a function that declares its flags.
func commands() map[string]func(*flag.FlagSet) action {
	return map[string]func(*flag.FlagSet) action{
		"apikey create":   createKey,
		"apikey list":     plain(showKeys),
		"apikey revoke":   plain(removal("apikeys", "the key's ID, as apikey list shows it")),
		"backup":          makeBackup,
		"db check":        plain(showCheck),
		"db compact":      plain(compactDatabase),
		"db stat":         plain(showLayout),
		"device list":     plain(showDevices),
		"device adopt":    adoptDevice,
		"device remove":   plain(removal("devices", "the device's id, as device list shows it")),
		"calibrate":       calibrateLinks,
		"links":           plain(showLinks),
		"mqttuser create": createMQTTUser,
		"mqttuser list":   plain(showMQTTUsers),
		"mqttuser remove": plain(removal("mqttusers", "the user's name")),
		"outbox list":     plain(showOutbox),
		"outbox show":     plain(showMail),
		"restore":         restoreBackup,
		"setup-code":      plain(makeSetupCode),
		"status":          plain(showStatus),
		"user list":       plain(showAccounts),
		"user create":     createAccount,
		"user password":   setPassword,
		"user delete":     deleteAccount,
	}
}

// plain is a command without flags of its own.
func plain(act action) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action { return act }
}

// removal is a command that removes the thing that its argument names.
func removal(collection, what string) action {
	return func(ctx context.Context, c command, arguments []string) error {
		id, err := single(arguments, what)
		if err != nil {
			return err
		}
		var done struct{}
		if err := c.client.do(ctx, http.MethodDelete, "/"+collection+"/"+url.PathEscape(id), nil, &done); err != nil {
			return err
		}
		return c.print(done, func(w io.Writer) { fmt.Fprintf(w, "removed %s\n", id) })
	}
}

// single returns the only argument of a command.
func single(arguments []string, what string) (string, error) {
	if len(arguments) != 1 {
		return "", fmt.Errorf("want %s", what)
	}
	return arguments[0], nil
}

// print writes an answer: as JSON with -json, otherwise as show does.
func (c command) print(answer any, show func(io.Writer)) error {
	if c.json {
		return json.NewEncoder(c.out).Encode(answer)
	}
	w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
	show(w)
	return w.Flush()
}

func createKey(flags *flag.FlagSet) action {
	scope := flags.String("scope", auth.ScopeRead, "what the key may do, comma-separated")
	write := flags.Bool("write", false, "the key may change things too: adds "+auth.ScopeWrite)
	network := flags.Uint("network", 0, "bind the key to this network; without it the only one there is")
	everywhere := flags.Bool("all-networks", false, "the key opens all networks, also those to come")
	expires := flags.Duration("expires", 0, "how long it is valid, such as 2160h; 0 = for ever")
	return func(ctx context.Context, c command, arguments []string) error {
		name, err := single(arguments, "a name for the key")
		if err != nil {
			return err
		}
		body := newKey{Name: name, Scopes: strings.Split(*scope, ","), NetworkID: motion.NetworkID(*network), AllNetworks: *everywhere, ExpiresIn: expires.Seconds()}
		if *write && !slices.Contains(body.Scopes, auth.ScopeWrite) {
			body.Scopes = append(body.Scopes, auth.ScopeWrite)
		}
		var key apiKey
		if err := c.client.do(ctx, http.MethodPost, "/apikeys", body, &key); err != nil {
			return err
		}
		return c.print(key, func(w io.Writer) {
			fmt.Fprintf(w, "%s\n", key.Secret)
			fmt.Fprintf(w, "\nKey %d (%s; %s): keep it, it is not shown again.", key.ID, key.Name, reach(key.APIKey))
			if key.Core == "" {
				fmt.Fprintln(w, " It opens something when the appliance runs.")
				return
			}
			fmt.Fprintf(w, " Try:\n  curl -H 'Authorization: Bearer %s' %s/networks\n", key.Secret, key.Core)
		})
	}
}

// reach returns in words which networks a key opens.
func reach(k store.APIKey) string {
	network, end := "all networks", "for ever"
	if k.NetworkID != 0 {
		network = fmt.Sprintf("network %d", k.NetworkID)
	}
	if k.ExpiresAt != 0 {
		end = "until " + when(k.ExpiresAt)
	}
	return strings.Join(k.Scopes, ", ") + "; " + network + "; " + end
}

func showKeys(ctx context.Context, c command, _ []string) error {
	var keys []store.APIKey
	if err := c.client.do(ctx, http.MethodGet, "/apikeys", nil, &keys); err != nil {
		return err
	}
	return c.print(keys, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tNAME\tSCOPES\tNETWORK\tCREATED\tEXPIRES\tLAST USED")
		for _, k := range keys {
			network := "all"
			if k.NetworkID != 0 {
				network = fmt.Sprint(k.NetworkID)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, strings.Join(k.Scopes, ","), network, when(k.CreatedAt), when(k.ExpiresAt), when(k.LastUsed))
		}
	})
}

func showDevices(ctx context.Context, c command, _ []string) error {
	var list deviceList
	if err := c.client.do(ctx, http.MethodGet, "/devices", nil, &list); err != nil {
		return err
	}
	return c.print(list, func(w io.Writer) {
		fmt.Fprintln(w, "DEVICE\tKIND\tSTATE\tNETWORK\tNODE\tADDRESS\tLAST HEARD\tWHY")
		for _, d := range list.Devices {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.Kind, d.State, number(d.NetworkID), d.NodeName, d.Address, when(d.LastHeard), d.Why)
			if d.Entry != nil {
				fmt.Fprintf(w, "  entry %s: %s of location_id %s\n", d.Entry.ID, d.Entry.Role, d.Entry.LocationID)
			}
			refusals(w, d.Refused)
		}
		fmt.Fprintln(w)
		if list.Open {
			fmt.Fprintf(w, "New devices of networks without an owner are adopted by themselves until %s.\n", when(list.AdoptionUntil))
		} else {
			fmt.Fprintln(w, "New devices wait for adoption: sensegate device adopt ID, or device adopt -window 10m [-network ID].")
		}
		for _, open := range list.Windows {
			fmt.Fprintf(w, "New devices of network %d are adopted by themselves until %s.\n", open.NetworkID, when(open.Until))
		}
	})
}

// refusals lists under a device which of its messages were refused.
func refusals(w io.Writer, refused []state.Refused) {
	for _, r := range refused {
		fmt.Fprintf(w, "  %d x %s (last %s)\n", r.Count, r.Reason, when(r.Last))
		if r.Sample != "" {
			fmt.Fprintf(w, "    last message: %.100s\n", r.Sample)
		}
	}
}

func adoptDevice(flags *flag.FlagSet) action {
	open := flags.Duration("window", 0, "adopt every new device that asks within this time, such as 10m, to join a network without an owner or to form a new one")
	network := flags.Uint("network", 0, "with -window: adopt those that ask to join this network instead")
	return func(ctx context.Context, c command, arguments []string) error {
		if *open > 0 {
			return openWindow(ctx, c, window{NetworkID: motion.NetworkID(*network), Seconds: open.Seconds()})
		}
		id, err := single(arguments, "the id of a pending device or of its entry, as device list shows them, or -window 10m")
		if err != nil {
			return err
		}
		var pending motion.PendingDevice
		if err := c.client.do(ctx, http.MethodPost, "/devices/"+url.PathEscape(id)+"/adopt", nil, &pending); err != nil {
			return err
		}
		return c.print(pending, func(w io.Writer) {
			fmt.Fprintf(w, "%s is let in when it asks next (devices repeat within a minute) as %s of location_id %s from %s.\n",
				pending.DeviceID, pending.Role(), pending.LocationID, pending.Address)
		})
	}
}

// openWindow opens an adoption window.
func openWindow(ctx context.Context, c command, wanted window) error {
	var opened window
	if err := c.client.do(ctx, http.MethodPost, "/adoption", wanted, &opened); err != nil {
		return err
	}
	where := "a network without an owner, or to form a new one,"
	if opened.NetworkID != 0 {
		where = fmt.Sprintf("network %d", opened.NetworkID)
	}
	return c.print(opened, func(w io.Writer) {
		fmt.Fprintf(w, "New devices that ask to join %s are adopted until %s.\n", where, when(opened.Until))
	})
}

func createMQTTUser(flags *flag.FlagSet) action {
	prefix := flags.String("prefix", "", "topics of the user; its name when empty")
	return func(ctx context.Context, c command, arguments []string) error {
		name, err := single(arguments, "a name for the MQTT user, such as homeassistant")
		if err != nil {
			return err
		}
		if *prefix == "" {
			*prefix = name
		}
		var user mqttUser
		if err := c.client.do(ctx, http.MethodPost, "/mqttusers", store.IntegrationUser{Name: name, TopicPrefix: *prefix}, &user); err != nil {
			return err
		}
		return c.print(user, func(w io.Writer) {
			fmt.Fprintf(w, "%s\n\nMQTT user %s: that is its password, it is not shown again. Its topics are those below %s/.\n", user.Secret, user.Name, user.TopicPrefix)
		})
	}
}

func showMQTTUsers(ctx context.Context, c command, _ []string) error {
	var users []store.IntegrationUser
	if err := c.client.do(ctx, http.MethodGet, "/mqttusers", nil, &users); err != nil {
		return err
	}
	return c.print(users, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tTOPICS\tCREATED")
		for _, u := range users {
			fmt.Fprintf(w, "%s\t%s/#\t%s\n", u.Name, u.TopicPrefix, when(u.CreatedAt))
		}
	})
}

// when returns a time for a person, "-" for never.
func when(t motion.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Std().Local().Format(time.DateTime)
}

func number(id motion.NetworkID) string {
	if id == 0 {
		return "-"
	}
	return fmt.Sprint(id)
}
