// Package provision makes what an integrator wants on each of many appliances when one starts for the
// first time: accounts, API keys, MQTT users and uplinks, as a file asks for them. All of it is made in one
// transaction, or nothing, and never again.
//
// It must not know how the file is read, HTTP, or a terminal.
package provision

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sensegate/api/auth"
	"sensegate/motion/home"
	"sensegate/motion/uplink"
	"sensegate/store"
	"sensegate/store/regular"
)

// Document is what the file asks for.
type Document struct {
	Accounts  []Account       `yaml:"accounts"`
	APIKeys   []APIKey        `yaml:"api_keys"`
	MQTTUsers []MQTTUser      `yaml:"mqtt_users"`
	Uplinks   []uplink.Config `yaml:"uplinks"`
}

// Account is an account with a confirmed address.
type Account struct {
	Email         string `yaml:"email"`
	Password      string `yaml:"password"`
	PasswordFile  string `yaml:"password_file"` // instead: a file whose first line it is
	PasswordHash  string `yaml:"password_hash"` // instead: argon2id in PHC form
	FirstName     string `yaml:"first_name"`
	LastName      string `yaml:"last_name"`
	Administrator bool   `yaml:"administrator"`
}

// APIKey is a key that opens all networks, as there are none yet.
type APIKey struct {
	Name   string `yaml:"name"`
	Write  bool   `yaml:"write"`
	Secret `yaml:",inline"`
}

// MQTTUser is a program that may use the topics below a prefix.
type MQTTUser struct {
	Name   string `yaml:"name"`
	Prefix string `yaml:"prefix"` // "": its name
	Secret `yaml:",inline"`
}

// Secret is one that somebody has already, or that is made and written into a file.
type Secret struct {
	SHA256 string `yaml:"sha256"` // of it, 64 hexadecimal digits
	File   string `yaml:"file"`   // path of a file to be written, readable by its owner alone
}

// sum returns the SHA-256 that is given.
func (s Secret) sum() (sum [32]byte) {
	_, _ = hex.Decode(sum[:], []byte(s.SHA256)) // checked
	return sum
}

// Others is what a document stands beside.
type Others struct {
	Uplinks  []uplink.Config // of the configuration
	Relay    uplink.RelayConfig
	StateDir string
	Begun    *Begun // what an earlier try may have written; nil: nothing
}

// Validate returns every mistake at once, each beginning with its key such as "accounts.0.email: ", and reads
// the passwords that stand in files. Paths of new secrets become absolute.
func (d *Document) Validate(beside Others) error {
	var wrong []error
	note := func(list string, i int, err error) {
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, fmt.Errorf("%s.%d.%s", list, i, strings.TrimSpace(line)))
		}
	}
	if len(d.Accounts)+len(d.APIKeys)+len(d.MQTTUsers)+len(d.Uplinks) == 0 {
		wrong = append(wrong, errors.New("accounts: want at least an account, or something of api_keys, mqtt_users or uplinks"))
	}
	for i := range d.Accounts {
		a := &d.Accounts[i]
		note("accounts", i, a.validate())
		note("accounts", i, twice("email", i, func(j int) bool { return home.EmailKey(d.Accounts[j].Email) == home.EmailKey(a.Email) }))
	}
	for i := range d.APIKeys {
		k := &d.APIKeys[i]
		note("api_keys", i, named(k.Name))
		note("api_keys", i, k.Secret.validate(beside))
		note("api_keys", i, twice("name", i, func(j int) bool { return d.APIKeys[j].Name == k.Name }))
		note("api_keys", i, twice("file", i, func(j int) bool { return meet(k.File, d.APIKeys[j].File) }))
		note("api_keys", i, twice("sha256", i, func(j int) bool { return k.SHA256 != "" && strings.EqualFold(d.APIKeys[j].SHA256, k.SHA256) }))
	}
	for i := range d.MQTTUsers {
		u := &d.MQTTUsers[i]
		note("mqtt_users", i, u.record().Validate())
		note("mqtt_users", i, u.Secret.validate(beside))
		note("mqtt_users", i, twice("name", i, func(j int) bool { return d.MQTTUsers[j].Name == u.Name }))
		note("mqtt_users", i, twice("file", i, func(j int) bool { return meet(u.File, d.MQTTUsers[j].File) }))
		if slices.ContainsFunc(d.APIKeys, func(k APIKey) bool { return meet(u.File, k.File) }) {
			note("mqtt_users", i, errors.New("file: is that of an API key, too"))
		}
	}
	return errors.Join(append(wrong, d.wrongUplinks(beside)...)...)
}

// validate reads the password of an account and returns its mistakes.
func (a *Account) validate() error {
	if a.PasswordFile != "" {
		if a.Password != "" || a.PasswordHash != "" {
			return errors.New("password_file: want one of password, password_file and password_hash")
		}
		raw, err := regular.Read(a.PasswordFile)
		if err != nil {
			return fmt.Errorf("password_file: %w", err)
		}
		a.Password, _, _ = strings.Cut(strings.TrimSpace(string(raw)), "\n")
	}
	return auth.Check(a.Email, a.Password, a.PasswordHash)
}

// validate returns what is wrong with a secret, and makes the path of its file absolute.
func (s *Secret) validate(beside Others) error {
	switch raw, err := hex.DecodeString(s.SHA256); {
	case (s.SHA256 == "") == (s.File == ""):
		return errors.New("sha256: want that of the secret, or file, into which a new one is written")
	case s.File != "" && !filepath.IsAbs(s.File) && (filepath.Base(s.File) != s.File || filepath.Ext(s.File) != ".key"):
		return errors.New("file: want a name that ends in .key, for a file in the state directory, or an absolute path")
	case s.SHA256 != "" && (err != nil || len(raw) != 32 || s.sum() == [32]byte{}):
		return errors.New("sha256: want 64 hexadecimal digits")
	case s.File == "":
		return nil
	}
	path := s.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(beside.StateDir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	s.File = path
	return beside.free(path)
}

// free returns why a new file may not be made at an absolute path: it would take the place of another one.
func (o Others) free(path string) error {
	own, err := filepath.Abs(o.StateDir)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	folder := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	} else if folder != own { // that is made at the first start
		return fmt.Errorf("file: %w", err)
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	if within := strings.HasPrefix(folder+"/", own+"/"); within && (folder != own || filepath.Ext(path) != ".key") {
		return errors.New("file: in the state directory want a name that ends in .key: what else is there is the appliance's own")
	}
	switch _, err := os.Lstat(path); {
	case err == nil && !o.Begun.wrote(path):
		return fmt.Errorf("file: %s is there already: name another one, or remove it", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file: %w", err)
	}
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("file: this user (%d) cannot make a file in %s: %w; let it, for a service of systemd also by ReadWritePaths= in a drop-in, or name another directory", os.Geteuid(), folder, err)
	}
	return nil
}

// Files returns the absolute paths of the files that are written, once the document was validated.
func (d *Document) Files() (paths []string) {
	for _, k := range d.APIKeys {
		paths = append(paths, k.File)
	}
	for _, u := range d.MQTTUsers {
		paths = append(paths, u.File)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// record returns the user as it is stored.
func (u MQTTUser) record() store.IntegrationUser {
	return store.IntegrationUser{Name: u.Name, TopicPrefix: cmp.Or(u.Prefix, u.Name)}
}

func named(name string) error {
	if name == "" {
		return errors.New("name: want one")
	}
	return nil
}

// twice returns an error when an entry before i is the same in a key.
func twice(key string, i int, same func(j int) bool) error {
	for j := range i {
		if same(j) {
			return fmt.Errorf("%s: is that of entry %d, too", key, j)
		}
	}
	return nil
}

// wrongUplinks returns the mistakes of the uplinks, also beside those of the configuration, and reads the
// passwords that stand in files.
func (d *Document) wrongUplinks(beside Others) (wrong []error) {
	for i := range d.Uplinks {
		u := &d.Uplinks[i]
		if u.PasswordFile == "" || u.Password != "" {
			continue
		}
		raw, err := regular.Read(u.PasswordFile)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("uplinks.%d.password_file: %w", i, err))
			continue
		}
		u.Password, u.PasswordFile = strings.TrimSpace(string(raw)), ""
	}
	err := uplink.ValidateAll(slices.Concat(beside.Uplinks, d.Uplinks), beside.Relay)
	if err == nil {
		return wrong
	}
	for line := range strings.Lines(err.Error()) {
		number, text, _ := strings.Cut(strings.TrimSpace(line), ".")
		i, err := strconv.Atoi(number)
		if at := i - len(beside.Uplinks); err == nil && at >= 0 {
			wrong = append(wrong, fmt.Errorf("uplinks.%d.%s", at, text))
		}
	}
	return wrong
}
