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
	"strings"
	"text/tabwriter"
	"time"

	"sensegate/motion"
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

// when returns a time for a person, "-" for never.
func when(t motion.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Std().Local().Format(time.DateTime)
}
