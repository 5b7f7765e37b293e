package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"sensegate/store/durable"
)

// The types of PEM blocks.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// errDamaged is returned for a file that is there and makes no sense.
var errDamaged = errors.New("damaged")

// readPair returns the certificate and the key of a file: os.ErrNotExist when there
// is none, errDamaged when it is not whole.
func readPair(path string) (*tls.Certificate, error) {
	raw, err := os.ReadFile(path)
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
