package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Headers of a signed post, as Standard Webhooks 1.0 names them.
const (
	HeaderID        = "webhook-id"        // the same for every try of one post
	HeaderTimestamp = "webhook-timestamp" // of this try, seconds since the epoch
	HeaderSignature = "webhook-signature" // "v1," and base64 of the HMAC
)

// secretPrefix marks a secret that is given in base64.
const secretPrefix = "whsec_"

// minSecret is the least length of a signing secret in bytes.
const minSecret = 16

// Config says where something is posted, and the secret that signs it.
type Config struct {
	URL    string `yaml:"url" env:"URL" secret:"path"`       // http or https; empty: not offered
	Secret string `yaml:"secret" env:"SECRET" secret:"true"` // "whsec_" and base64, or plain text
}

// Validate returns every mistake at once, nil when there is none; no url and no
// secret is right. The mistakes do not show what is configured.
func (c Config) Validate() error {
	if c.URL == "" && c.Secret == "" {
		return nil
	}
	var wrong []error
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			wrong = append(wrong, errors.New("url: want http://host/path or https://host/path, without user name and password"))
		}
	}
	secret, err := c.key()
	switch {
	case err != nil:
		wrong = append(wrong, fmt.Errorf("secret: %w", err))
	case len(secret) < minSecret:
		wrong = append(wrong, fmt.Errorf("secret: want at least %d characters, or whsec_ and base64 of as many bytes", minSecret))
	}
	return errors.Join(wrong...)
}

// key returns the key that the secret stands for.
func (c Config) key() ([]byte, error) {
	encoded, isEncoded := strings.CutPrefix(c.Secret, secretPrefix)
	if !isEncoded {
		return []byte(c.Secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("want base64 after whsec_")
	}
	return key, nil
}

// sign returns the signature header of a post: HMAC-SHA256 over id, timestamp and
// body, joined by dots (Standard Webhooks 1.0, "Signature scheme").
func sign(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
