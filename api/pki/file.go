package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"sensegate/store/durable"
	"sensegate/store/regular"
)

// The types of PEM blocks.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// errDamaged is returned for a file that holds no certificate and key.
var errDamaged = errors.New("damaged")

// readPair returns the certificate and the key of a file: os.ErrNotExist when there
// is none, errDamaged when it is not whole.
func readPair(path string) (*tls.Certificate, error) {
	raw, err := regular.Read(path)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return &pair, nil
}

// writePair replaces the file at path by a certificate and its key.
func writePair(path string, pair *tls.Certificate) error {
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	var text bytes.Buffer
	text.Write(certificatePEM(pair))
	text.Write(pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key}))
	return durable.WriteFile(path, text.Bytes())
}

// certificatePEM returns the certificate of a pair without its key.
func certificatePEM(pair *tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: pair.Leaf.Raw})
}

// Config is the tls part of the configuration: the owner's certificate, which replaces the
// appliance's own. Both empty: its own.
type Config struct {
	Certificate string `yaml:"certificate" env:"CERTIFICATE"` // PEM file, with its chain
	Key         string `yaml:"key" env:"KEY" secret:"false"`  // PEM file
}

// Validate returns the rules that the configuration breaks. It does not read the files, which
// may change while the appliance runs.
func (c Config) Validate() error {
	switch {
	case c.Certificate != "" && c.Key == "":
		return errors.New("key: want the file of the certificate's private key")
	case c.Certificate == "" && c.Key != "":
		return errors.New("certificate: want the file of the key's certificate")
	}
	var wrong []error
	if err := regular.Mistake(c.Certificate); err != nil {
		wrong = append(wrong, fmt.Errorf("certificate: %w", err))
	}
	if err := regular.Mistake(c.Key); err != nil {
		wrong = append(wrong, fmt.Errorf("key: %w", err))
	}
	return errors.Join(wrong...)
}

// pair reads the certificate and its key.
func (c Config) pair() (pair tls.Certificate, err error) {
	certificate, err := regular.Read(c.Certificate)
	if err != nil {
		return pair, err
	}
	key, err := regular.Read(c.Key)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(certificate, key)
}
