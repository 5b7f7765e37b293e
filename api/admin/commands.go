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
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"sensegate/api/box"
	"sensegate/api/box/preflight"
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
  device connect ID            have a node of ESPectre (Native) publish to this box
  links [NETWORK]              how each link senses, and why it cannot
  calibrate NETWORK [LINK] [-cancel]
  log level [debug|info|warn|error]
                               what the log holds, until the next start
  record [-minutes 10] [-network ID] [-links LINK,LINK] [-label empty|still|moving]
                               write raw CSI into files, labelled by keys while it runs
  record list | get NAME [DIRECTORY] | delete NAME
  mqttuser create NAME [-prefix TOPIC | -for home-assistant] | list | remove NAME
  network list                 networks, and how those that move to another box are doing
  network export ID [-move] [-o FILE] [-passphrase-file FILE | -plain]
                               write a network with all that belongs to it, for another box
  network import [FILE] [-passphrase-file FILE] [-join EMAIL,EMAIL]
                               take one in that another box has written
  network hand-over ID URL RECEIPT
                               send its devices to the gatekeeper of the box that took it in
  network take-back ID         let it go on here | delete ID
  outbox list | show ID
  setup-code                   make the code that the first owner is made with
  backup [-o FILE] [-passphrase-file FILE]
  restore FILE [-passphrase-file FILE]
  db stat | check | compact
  status [-watch]              how the appliance, its devices and its disk are
  support [-o FILE]            write what helps to find out why it does not work, without
                               names, addresses and secrets
  uplink list | test NAME | remove NAME
  uplink add NAME -url mqtt://HOST -use home_assistant,events [-username NAME -password-file FILE] [-ca FILE]
                               send to a broker outside; uplink add -h lists every flag
  uplink change NAME           with the flags of uplink add: those that are left out stay as they are
  update FILE                  replace the program by a newer one, signed in FILE.minisig;
                               the former one runs again when that is not ready in a minute
  user create EMAIL | password EMAIL [-password-file FILE] | list | delete EMAIL [-networks]
  user admin EMAIL [-remove]   let an account look after the appliance in the app
  audit [-last 50] [-before LINE]
                               who has changed what, and when
`

// command is one administration command that is being run.
type command struct {
	client   *Client // nil of an offline command
	stateDir string
	offline  Offline
	out      io.Writer
	said     io.Writer // what is no answer, such as how far it is
	json     bool
}

// Stopped is what there is of an appliance that does not run, without its database.
type Stopped struct {
	box.Parts
	StateDir string
	NoLog    error // why Recent is nil, where there is to be a file of the log
}

// Offline returns what there is of an appliance that does not run: by its configuration file, "" for the
// installed one, and its state directory, "" for that of the configuration. What is wrong with the
// configuration is an error; the rest is there all the same.
type Offline func(config, stateDir string) (Stopped, error)

// Run runs one command, such as "apikey", "list", for the appliance of a state directory, and
// writes the answer to out. flags are the words after the command; -state-dir and -json go
// with every one. offline may be nil.
func Run(ctx context.Context, stateDir string, offline Offline, words []string, out, errOut io.Writer) error {
	name, found := find(words)
	if found.flags == nil {
		fmt.Fprintf(errOut, "%s: no such command; there are:\n%s", name, Usage)
		return ErrUsage
	}
	flags := flag.NewFlagSet("sensegate "+name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	c := command{out: out, said: errOut, offline: offline}
	flags.BoolVar(&c.json, "json", false, "print the answer as JSON")
	flags.StringVar(&stateDir, "state-dir", stateDir, "state directory of the appliance")
	act := found.flags(flags)
	arguments, err := interspersed(flags, words[len(strings.Fields(name)):])
	if err != nil {
		return ErrUsage
	}
	c.stateDir = stateDir
	if found.itself {
		return act(ctx, c, arguments)
	}
	if found.offline {
		if err := errors.Join(asOwner(stateDir), notOnTrial(stateDir)); err != nil {
			return err
		}
		return act(ctx, c, arguments)
	}
	if c.client, err = Open(ctx, stateDir, errOut); err != nil {
		return err
	}
	return errors.Join(act(ctx, c, arguments), c.client.Close())
}

// asOwner refuses root who would make files in a state directory that the appliance, another user,
// could not open.
func asOwner(stateDir string) error {
	info, err := os.Stat(stateDir)
	if err != nil || os.Geteuid() != 0 {
		return nil // told where it matters
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid == 0 {
		return nil
	}
	return &foreignError{stateDir, preflight.Owner(info)}
}

// foreignError refuses root to work in the state directory of another user.
type foreignError struct{ stateDir, owner string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s belongs to %s, who could not open what root makes there: %s …", e.stateDir, e.owner, e.as())
}

// as begins the command that works there.
func (e *foreignError) as() string { return "runuser -u " + e.owner + " -- sensegate" }

// find returns the command that words begin with, of one word or two; the zero entry: there
// is none.
func find(words []string) (name string, found entry) {
	all := commands()
	for n := min(2, len(words)); n > 0 && found.flags == nil; n-- {
		name = strings.Join(words[:n], " ")
		found = all[name]
	}
	return name, found
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

// entry is a command: flags declares its flags and returns what runs it.
type entry struct {
	flags   func(*flag.FlagSet) action
	offline bool // it is for an appliance that does not run
	itself  bool // it finds out itself whether one runs
}

// commands returns each command by name.
func commands() map[string]entry {
	return map[string]entry{
		"apikey create":     {flags: createKey},
		"apikey list":       {flags: list("/apikeys", showKeys)},
		"apikey revoke":     {flags: removal("/apikeys/", "the key's ID, as apikey list shows it")},
		"audit":             {flags: showAudit},
		"backup":            {flags: makeBackup},
		"db check":          {flags: noFlags(checkDatabase)},
		"db compact":        {flags: noFlags(compactDatabase), offline: true},
		"db stat":           {flags: list("/db/stat", showLayout)},
		"device list":       {flags: list("/devices", showDevices)},
		"device adopt":      {flags: adoptDevice},
		"device connect":    {flags: noFlags(withArgument("the id of a node of ESPectre, as device list shows it", connectNode))},
		"device remove":     {flags: removal("/devices/", "the device's id, as device list shows it")},
		"calibrate":         {flags: calibrateLinks},
		"log level":         {flags: noFlags(changeLogLevel)},
		"links":             {flags: noFlags(listLinks)},
		"mqttuser create":   {flags: createMQTTUser},
		"mqttuser list":     {flags: list("/mqttusers", showMQTTUsers)},
		"mqttuser remove":   {flags: removal("/mqttusers/", "the user's name")},
		"network list":      {flags: list("/networks", showNetworks)},
		"network export":    {flags: exportNetwork},
		"network import":    {flags: importNetwork},
		"network hand-over": {flags: noFlags(handOverNetwork)},
		"network take-back": {flags: noFlags(withArgument("the network's ID, as network list shows it", takeBackNetwork))},
		"network delete":    {flags: deleteNetwork},
		"outbox list":       {flags: list("/outbox", showOutbox)},
		"outbox show":       {flags: noFlags(withArgument("the mail's ID, as outbox list shows it", readMail))},
		"record":            {flags: record},
		"record list":       {flags: list("/recordings", showRecordings)},
		"record get":        {flags: noFlags(getRecording)},
		"record delete":     {flags: removal("/recordings/", "the recording's name, as record list shows it")},
		"restore":           {flags: restoreBackup, offline: true},
		"setup-code":        {flags: noFlags(makeSetupCode)},
		"status":            {flags: statusOrWatch, itself: true},
		"support":           {flags: makeSupport, itself: true},
		"update":            {flags: noFlags(withArgument("the file of the new program", updateProgram)), itself: true},
		"uplink add":        {flags: addUplink},
		"uplink change":     {flags: changeUplink},
		"uplink list":       {flags: list("/uplinks", showUplinks)},
		"uplink remove":     {flags: removal("/uplinks/", "the uplink's name, as uplink list shows it")},
		"uplink test":       {flags: noFlags(withArgument("the uplink's name, as uplink list shows it", testUplink))},
		"user list":         {flags: list("/users", showAccounts)},
		"user create":       {flags: givePassword("/users", "created and confirmed")},
		"user password":     {flags: givePassword("/users/password", "has a new password, and every session has ended")},
		"user delete":       {flags: deleteAccount},
		"user admin":        {flags: setAdministrator},
	}
}

// noFlags is a command without flags of its own.
func noFlags(act action) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action { return act }
}

// list is a command that shows what is at a path.
func list[T any](path string, show func(io.Writer, T)) func(*flag.FlagSet) action {
	return noFlags(func(ctx context.Context, c command, _ []string) error {
		return ask(ctx, c, http.MethodGet, path, nil, show)
	})
}

// removal is a command that removes the thing below a path that its argument names.
func removal(path, what string) func(*flag.FlagSet) action {
	return noFlags(withArgument(what, func(ctx context.Context, c command, id string) error {
		return ask(ctx, c, http.MethodDelete, path+url.PathEscape(id), nil, func(w io.Writer, _ struct{}) {
			fmt.Fprintf(w, "removed %s\n", id)
		})
	}))
}

// withArgument is an action that takes one argument.
func withArgument(what string, act func(ctx context.Context, c command, argument string) error) action {
	return func(ctx context.Context, c command, arguments []string) error {
		argument, err := single(arguments, what)
		if err != nil {
			return err
		}
		return act(ctx, c, argument)
	}
}

// single returns the only argument of a command.
func single(arguments []string, what string) (string, error) {
	if len(arguments) != 1 {
		return "", fmt.Errorf("want %s", what)
	}
	return arguments[0], nil
}

// ask sends a command and prints the answer.
func ask[T any](ctx context.Context, c command, method, path string, body any, show func(io.Writer, T)) error {
	var answer T
	if err := c.client.do(ctx, method, path, body, &answer); err != nil {
		return err
	}
	return c.print(answer, func(w io.Writer) { show(w, answer) })
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
