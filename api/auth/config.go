package auth

import (
	"errors"
	"fmt"
	"strings"
)

// Config is the auth part of the configuration.
type Config struct {
	Argon2    Argon            `yaml:"argon2" envPrefix:"ARGON2_"`
	Providers []ProviderConfig `yaml:"providers" envPrefix:"PROVIDERS_"`
}

// Defaults returns what holds without any configuration.
func Defaults() Config { return Config{Argon2: DefaultArgon(), Providers: []ProviderConfig{}} }

// Validate returns every rule that the configuration breaks.
func (c Config) Validate() error {
	var wrong []error
	under := func(key string, err error) {
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, errors.New(key+strings.TrimSpace(line)))
		}
	}
	under("argon2.", c.Argon2.Validate())
	names := map[string]bool{}
	for i, p := range c.Providers {
		key := fmt.Sprintf("providers.%d.", i)
		under(key, p.Validate())
		if names[p.Name] {
			under(key, errors.New("name: is there twice"))
		}
		names[p.Name] = true
	}
	return errors.Join(wrong...)
}
