package pki

import "errors"

// Config is the tls part of the configuration: the owner's certificate, to be shown
// instead of the appliance's own. Both empty: its own.
type Config struct {
	Certificate string `yaml:"certificate" env:"CERTIFICATE"` // PEM file, with what leads to the authority
	Key         string `yaml:"key" env:"KEY"`                 // PEM file
}

// Validate returns what is wrong with it, nil when nothing is. It does not look at
// the files, which may change while the appliance runs.
func (c Config) Validate() error {
	switch {
	case c.Certificate != "" && c.Key == "":
		return errors.New("key: want the file of the certificate's private key")
	case c.Certificate == "" && c.Key != "":
		return errors.New("certificate: want the file of the key's certificate")
	}
	return nil
}
