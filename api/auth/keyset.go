package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"sensegate/store/durable"
	"sensegate/store/regular"

	"github.com/go-jose/go-jose/v4"
)

const (
	fetchTime = 10 * time.Second // for one fetch
	fetchRest = time.Minute      // between two fetches
	maxKeySet = 256 << 10        // bytes of a key set
)

// keySet is the public keys of an identity provider (RFC 7517): from a file, or from an
// address with a copy on disk, so that it works without internet after the first fetch. It
// reads the set again for a key that it does not know, at most once a minute. Its methods may
// be called concurrently.
type keySet struct {
	path   string // the file, or the copy
	url    string // "" = the file alone
	client *http.Client

	mu     sync.Mutex
	keys   *jose.JSONWebKeySet
	looked time.Time
}

// newKeySet reads the keys on disk; of an address there may be none yet.
func newKeySet(path, url string) (*keySet, error) {
	s := &keySet{path: path, url: url, client: &http.Client{Timeout: fetchTime}, keys: &jose.JSONWebKeySet{}}
	data, err := regular.Read(path)
	switch {
	case url != "" && errors.Is(err, os.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("read key set: %w", err)
	}
	keys, err := parseKeySet(data)
	switch {
	case err != nil && url == "":
		return nil, fmt.Errorf("read key set %s: %w", path, err)
	case err == nil:
		s.keys = keys
	}
	return s, nil // a damaged copy is fetched again
}

// parseKeySet returns the public keys of a set; others are left out.
func parseKeySet(data []byte) (*jose.JSONWebKeySet, error) {
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	set := &jose.JSONWebKeySet{}
	for _, encoded := range raw.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(encoded, &key) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("it holds no public key for signatures")
	}
	return set, nil
}

// VerifySignature returns the payload of a token that one of the keys has signed. The caller
// has fixed the algorithms, and checks everything else.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, asymmetric())
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	if payload, ok := verifyWith(s.known(), signed); ok {
		return payload, nil
	}
	keys, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if payload, ok := verifyWith(keys, signed); ok {
		return payload, nil
	}
	return nil, errors.New("verify token: no key of the provider has signed it")
}

// verifyWith tries the keys that a token's header allows.
func verifyWith(keys *jose.JSONWebKeySet, signed *jose.JSONWebSignature) ([]byte, bool) {
	if len(signed.Signatures) != 1 {
		return nil, false
	}
	id, algorithm := signed.Signatures[0].Header.KeyID, signed.Signatures[0].Header.Algorithm
	for _, key := range keys.Keys {
		if id != "" && key.KeyID != id || key.Algorithm != "" && key.Algorithm != algorithm {
			continue
		}
		if payload, err := signed.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

func (s *keySet) known() *jose.JSONWebKeySet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// look reads the keys again, unless it did within the last minute. When the provider cannot be
// reached, the known keys stay.
func (s *keySet) look(ctx context.Context) (*jose.JSONWebKeySet, error) {
	s.mu.Lock()
	now := time.Now()
	if !s.looked.IsZero() && now.Sub(s.looked) < fetchRest {
		defer s.mu.Unlock()
		return s.keys, nil
	}
	s.looked = now
	s.mu.Unlock()

	keys, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.keys = keys
	case len(s.keys.Keys) == 0:
		return nil, err
	}
	return s.keys, nil
}

// read reads the file, or fetches the keys and writes the copy.
func (s *keySet) read(ctx context.Context) (*jose.JSONWebKeySet, error) {
	if s.url == "" {
		data, err := regular.Read(s.path)
		if err != nil {
			return nil, fmt.Errorf("read key set: %w", err)
		}
		return parseKeySet(data)
	}
	data, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeySet(data)
	if err != nil {
		return nil, fmt.Errorf("read key set of the provider: %w", err)
	}
	return keys, durable.WriteFile(s.path, data)
}

func (s *keySet) fetch(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch key set: the provider answers %s", response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet+1))
	if err == nil && len(data) > maxKeySet {
		err = errors.New("it is too long")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	return data, nil
}

// asymmetric are the algorithms that a provider may sign with (RFC 7518 3.1, RFC 8037): none
// with a shared key, and not "none".
func asymmetric() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}
