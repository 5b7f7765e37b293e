package appliance

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/api/admin"
	"sensegate/api/box/support"
	"sensegate/motion/uplink"
)

// stoppedBundle makes a bundle of what does not run, of a configuration and a database with what is planted.
func stoppedBundle(t *testing.T, config string, words ...string) (files map[string]string, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	words = append([]string{"support", "-config", path, "-o", "-"}, words...)
	if err := admin.Run(t.Context(), filepath.Join(t.TempDir(), "another"), Offline, words, &out, &errOut); err != nil {
		t.Fatal(err)
	}
	return bundled(t, out.Bytes()), errOut.String()
}

// want wants texts in the files of a bundle, and says what the command said otherwise.
func want(t *testing.T, files map[string]string, said string, wanted map[string][]string) {
	t.Helper()
	for name, words := range wanted {
		for _, word := range words {
			if !strings.Contains(files[name], word) {
				t.Errorf("%s lacks %s (%s):\n%s", name, word, said, files[name])
			}
		}
	}
}

// The state directory is that of the configuration that is named, unless it is named itself.
func TestSupportBundleIsOfTheNamedConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantRecords(t, dir)
	files, said := stoppedBundle(t, "state_dir: "+dir+"\nlog: {file: "+filepath.Join(dir, "none.log")+"}\n")
	want(t, files, said, map[string][]string{
		"devices.json": {`"device-1"`}, "doctor.txt": {"state_dir: state-dir-1", "UTC"}, "configuration.json": {`"value": "state-dir-1"`, `"origin": "file"`},
	})
	if !strings.Contains(said, "without the log: open ") || strings.Contains(said, "configuration") {
		t.Errorf("of a log that is not there: %s", said)
	}
	elsewhere := t.TempDir()
	files, said = stoppedBundle(t, "state_dir: "+dir+"\n", "-state-dir", elsewhere)
	want(t, files, said, map[string][]string{"database.json": {"no appliance in state-dir-1: start it once with sensegate serve"}})
}

// With mistakes in the configuration a bundle names them, and has the rest as far as it could be read.
func TestSupportBundleNamesMistakesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantRecords(t, dir)
	files, said := stoppedBundle(t, "state_dir: "+dir+`
http: {listen: 127.0.0.1:0}
htp: `+planted["stranger"]+`
mail:
  smtp: {host: `+planted["mail server"]+`, port: `+planted["mail password"]+`}
push: {messages: {`+planted["stranger"]+`: {title: x}}}
uplinks:
  - {name: `+planted["uplink"]+`, url: "mqtt://`+planted["uplink's host"]+`", use: [`+planted["room"]+`]}
`)
	wantClean(t, files)
	want(t, files, said, map[string][]string{
		"mistakes.txt":       {"config-1:3: …: no such key; did you mean http?\n", "config-1:5: mail.smtp.port: want a whole number", "config-1:8: uplinks.0.use"},
		"configuration.json": {`"key": "http.listen"`, `"origin": "file"`},
		"doctor.txt":         {"state_dir: state-dir-1", "http.listen: 127.0.0.1:0 is free"},
		"devices.json":       {`"device-1"`}, "README.txt": {"mistakes.txt"},
	})
	if !strings.Contains(said, "has mistakes, which the bundle has") || !strings.Contains(said, ":5: mail.smtp.port") {
		t.Errorf("it says %s", said)
	}
	files, said = stoppedBundle(t, "state_dir: [\n")
	want(t, files, said, map[string][]string{"mistakes.txt": {"config-1:"}, "doctor.txt": {"clock: 2"}, "configuration.json": {`"http.listen"`}})
}

func TestSupportCommandSaysWhereItCannotWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, word := range map[string]string{dir: "is a directory: name a file in it by -o", filepath.Join(dir, "none", "b.zip"): "write the bundle: open ", "/dev/null": "-o: /dev/null is a device and no regular file"} {
		err := admin.Run(t.Context(), dir, Offline, []string{"support", "-o", path}, new(bytes.Buffer), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Where the appliance cannot even be asked, as its directory is another user's, a bundle has the rest.
func TestSupportBundleOfWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // no socket can have such a path
	files, said := stoppedBundle(t, "state_dir: "+dir+"\n")
	want(t, files, said, map[string][]string{
		"database.json": {"the appliance of state-dir-1 cannot be reached: dial unix state-dir-1/sensegate.sock: connect: invalid argument"}, "doctor.txt": {"state-dir-1 is not there yet"},
	})
}

// Every key of the configuration is known to be one, and shown where mistakes are told too.
func TestSupportBundleKnowsEveryKey(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.Uplinks = []uplink.Config{{}}
	for _, s := range c.Settings().List {
		if !support.IsKey(s.Key) && !strings.HasPrefix(s.Key, "push.messages.") { // which the events name
			t.Errorf("%s is none", s.Key)
		}
	}
	if support.IsKey("push.messages.kitchen.title") || support.IsKey("kitchen") {
		t.Error("a word of somebody is one")
	}
}
