package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Headers of a signed post, as Standard Webhooks 1.0 names them.
const (
	headerID        = "webhook-id"        // the same for every try of one post
	headerTimestamp = "webhook-timestamp" // of this try, seconds since the epoch
	headerSignature = "webhook-signature" // "v1," and base64 of the HMAC
)

// secretPrefix marks a secret that is given in base64.
const secretPrefix = "whsec_"

// secretBytes returns the key that a secret stands for.
func secretBytes(secret string) ([]byte, error) {
	encoded, isEncoded := strings.CutPrefix(secret, secretPrefix)
	if !isEncoded {
		return []byte(secret), nil
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
