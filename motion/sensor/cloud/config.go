package cloud

import (
	"errors"
	"net/url"
)

// Config is the address of the cloud. The zero value disables it.
type Config struct {
	URL string `yaml:"url" env:"URL" secret:"path"` // http or https; empty: disabled
	Key string `yaml:"key" env:"KEY" secret:"true"` // of this appliance
}

// minKey is the least length of a key, in characters.
const minKey = 16

// Validate returns all mistakes joined, or nil.
func (c Config) Validate() error {
	var wrong []error
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			wrong = append(wrong, errors.New("url: want https://host or https://host/path, without user name, password and query"))
		}
	}
	if (c.URL != "" || c.Key != "") && len(c.Key) < minKey {
		wrong = append(wrong, errors.New("key: want at least 16 characters"))
	}
	return errors.Join(wrong...)
}
