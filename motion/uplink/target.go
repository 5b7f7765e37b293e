package uplink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"sensegate/store/regular"
)

// Target is a broker to connect to, with how.
type Target struct {
	URL      *url.URL    // mqtt, mqtts, ws or wss, with a port
	TLS      *tls.Config // of mqtts and wss
	Username string
	Password string
	ClientID string
	Status   string        // topic of "online" and "offline", retained, and of the last will; "": none
	Answer   time.Duration // how long the broker may take for each answer; 0: 20 seconds
}

// secret returns the password.
func (c Config) secret() (string, error) {
	if c.PasswordFile == "" {
		return c.Password, nil
	}
	if c.Password != "" {
		return "", errors.New("want the password or its file, not both")
	}
	raw, err := regular.Read(c.PasswordFile)
	return strings.TrimSpace(string(raw)), err
}

// tls returns the TLS configuration, and the mistakes in it.
func (c Config) tls() (*tls.Config, []error) {
	var wrong []error
	text := func(key, value string) []byte {
		pem, err := pemText(value)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", key, err))
		}
		return pem
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca := text("ca", c.CA); len(ca) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			wrong = append(wrong, errors.New("ca: want certificates as PEM text, or the name of a file with them"))
		}
	}
	certificate, key := text("client_certificate", c.ClientCertificate), text("client_key", c.ClientKey)
	switch {
	case len(certificate) == 0 && len(key) == 0:
	case len(certificate) == 0:
		wrong = append(wrong, errors.New("client_certificate: want the certificate of client_key"))
	case len(key) == 0:
		wrong = append(wrong, errors.New("client_key: want the key of client_certificate"))
	default:
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			wrong = append(wrong, errors.New("client_key: is not the key of client_certificate, or one of them is not PEM"))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, wrong
}

// pemText returns PEM text: the value itself, or what the file holds that it names.
func pemText(value string) ([]byte, error) {
	if value == "" || strings.Contains(value, "-----BEGIN") {
		return []byte(value), nil
	}
	if strings.ContainsAny(value, "\n\r") || len(value) > 4096 {
		return nil, errors.New("want PEM text, or the name of a file with it")
	}
	raw, err := regular.Read(value)
	if err != nil {
		return nil, fmt.Errorf("want PEM text, or the name of a file with it: %w", err)
	}
	return raw, nil
}

// Files returns the files that a configuration names, by key.
func (c Config) Files() map[string]string {
	named := map[string]string{"password_file": c.PasswordFile}
	for key, value := range map[string]string{"ca": c.CA, "client_certificate": c.ClientCertificate, "client_key": c.ClientKey} {
		if !strings.Contains(value, "-----BEGIN") {
			named[key] = value
		}
	}
	return named
}

// withoutFiles returns the mistake of a configuration that names files: one that comes from the app
// would read any file of the appliance.
func (c Config) withoutFiles() error {
	var wrong []error
	for key, path := range c.Files() {
		switch {
		case path == "":
		case key == "password_file":
			wrong = append(wrong, errors.New("password_file: want the password"))
		default:
			wrong = append(wrong, fmt.Errorf("%s: want PEM text", key))
		}
	}
	return errors.Join(wrong...)
}

// Uplink is an uplink as its parts see it.
type Uplink struct {
	Config
	Box  string // the instance id of the database, 8 hexadecimal digits
	Base string // what all its topics begin with: <prefix>/<box>
}

// newUplink returns the uplink of a configuration.
func newUplink(c Config, box string) Uplink {
	return Uplink{Config: c, Box: box, Base: c.prefix() + "/" + box}
}

// clientID returns the client id. It is the same at every start, so that the broker ends a connection
// of the last run that is still open.
func (u Uplink) clientID() string {
	if u.ClientID != "" {
		return u.ClientID
	}
	if !u.relay {
		return "sensegate-" + u.Box
	}
	host, err := os.Hostname()
	if err != nil {
		return "sensegate"
	}
	return "sensegate-" + host
}

// target returns the broker of the uplink.
func (u Uplink) target() (Target, error) {
	address, err := u.address()
	if err != nil {
		return Target{}, err
	}
	password, err := u.secret()
	if err != nil {
		return Target{}, fmt.Errorf("password_file: %w", err)
	}
	config, wrong := u.tls()
	if len(wrong) > 0 {
		return Target{}, errors.Join(wrong...)
	}
	status := u.Base + "/availability"
	if u.relay {
		status = u.prefix() + "/status"
	}
	return Target{URL: address, TLS: config, Username: u.Username, Password: password, ClientID: u.clientID(), Status: status}, nil
}
