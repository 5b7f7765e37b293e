package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/regular"
)

// ProviderConfig is an identity provider whose tokens log people in
// (payloads.md 6 no. 7).
type ProviderConfig struct {
	Name       string   `yaml:"name" env:"NAME"`             // in the path of the operation
	Issuer     string   `yaml:"issuer" env:"ISSUER"`         // iss of its tokens
	Audience   string   `yaml:"audience" env:"AUDIENCE"`     // aud of its tokens: the app's client id
	JWKSFile   string   `yaml:"jwks_file" env:"JWKS_FILE"`   // its keys: a file,
	JWKSURL    string   `yaml:"jwks_url" env:"JWKS_URL"`     // or an address, kept on disk
	Algorithms []string `yaml:"algorithms" env:"ALGORITHMS"` // that it signs with; empty: RS256
}

// maxProviderToken bounds a token, in bytes.
const maxProviderToken = 16 << 10

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Validate returns every rule that the configuration breaks.
func (c ProviderConfig) Validate() error {
	var wrong []error
	rule := func(ok bool, text string) {
		if !ok {
			wrong = append(wrong, errors.New(text))
		}
	}
	rule(len(c.Name) <= 32 && providerName.MatchString(c.Name), "name: want 1 to 32 of a-z, 0-9, - and _")
	rule(c.Issuer != "", "issuer: is needed")
	rule(c.Audience != "", "audience: is needed")
	rule((c.JWKSFile == "") != (c.JWKSURL == ""), "jwks_file or jwks_url: one of them is needed")
	if err := regular.Mistake(c.JWKSFile); err != nil {
		wrong = append(wrong, fmt.Errorf("jwks_file: %w", err))
	}
	if c.JWKSURL != "" {
		at, err := url.Parse(c.JWKSURL)
		rule(err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != "", "jwks_url: want an address such as https://id.example.com/keys")
	}
	for _, name := range c.Algorithms {
		rule(slices.Contains(asymmetric(), jose.SignatureAlgorithm(name)), "algorithms: want RS256, ES256, EdDSA, PS256 or their longer kin")
	}
	return errors.Join(wrong...)
}

// Providers log people in with tokens of the configured identity providers. The
// methods may be called concurrently.
//
// A person is identified by issuer and subject. The address identifies an account only once:
// at the person's first log-in with that provider.
type Providers struct {
	db       *store.DB
	sessions *Sessions
	accounts *Accounts
	log      *slog.Logger
	by       map[string]provider
}

type provider struct {
	issuer   string
	verifier *oidc.IDTokenVerifier
}

// NewProviders returns the configured providers. Copies of fetched keys are kept in
// stateDir.
func NewProviders(list []ProviderConfig, stateDir string, accounts *Accounts, log *slog.Logger) (*Providers, error) {
	p := &Providers{db: accounts.db, sessions: accounts.sessions, accounts: accounts, log: log, by: map[string]provider{}}
	for _, c := range list {
		path := c.JWKSFile
		if c.JWKSURL != "" {
			path = filepath.Join(stateDir, "jwks-"+c.Name+".json")
		}
		keys, err := newKeySet(path, c.JWKSURL)
		if err != nil {
			return nil, fmt.Errorf("identity provider %s: %w", c.Name, err)
		}
		p.by[c.Name] = provider{c.Issuer, oidc.NewVerifier(c.Issuer, keys, &oidc.Config{
			ClientID: c.Audience, SupportedSigningAlgs: c.Algorithms,
		})}
	}
	return p, nil
}

// bearer is the person in a provider's token (OpenID Connect Core 5.1).
type bearer struct {
	identity    store.Identity
	email       string
	verified    bool // the provider has verified the address
	first, last string
}

// flag is a boolean that some providers send as text.
type flag bool

// UnmarshalJSON reads either form.
func (f *flag) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case `true`, `"true"`:
		*f = true
	case `false`, `"false"`, `null`:
	default:
		return errors.New("want true or false")
	}
	return nil
}

// read verifies a token: signature, fixed algorithms, issuer, audience, expiry.
func (p *Providers) read(ctx context.Context, name, token string) (bearer, error) {
	from, ok := p.by[name]
	if !ok {
		return bearer{}, fault.New(fault.NotFound, "identity provider %.32q is not known", name)
	}
	if len(token) > maxProviderToken {
		return bearer{}, refusedProvider()
	}
	verified, err := from.verifier.Verify(ctx, token)
	if err != nil {
		if ctx.Err() != nil {
			return bearer{}, ctx.Err()
		}
		p.log.Info("token of identity provider refused", "provider", name, "err", reason(err))
		return bearer{}, refusedProvider()
	}
	var says struct {
		Email     string `json:"email"`
		Verified  flag   `json:"email_verified"`
		FirstName string `json:"given_name"`
		LastName  string `json:"family_name"`
	}
	if err := verified.Claims(&says); err != nil || verified.Subject == "" {
		return bearer{}, refusedProvider()
	}
	return bearer{
		identity: store.Identity{Issuer: from.issuer, Subject: verified.Subject},
		email:    says.Email, verified: bool(says.Verified), first: says.FirstName, last: says.LastName,
	}, nil
}

func refusedProvider() error {
	return fault.New(fault.Unauthorized, "access_token: is not a valid token of this provider for this app")
}

// reason returns why a token was refused, without any content of the token.
func reason(err error) string {
	var expired *oidc.TokenExpiredError
	var network *url.Error
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &expired):
		return "expired"
	case errors.As(err, &network):
		return "the keys of the provider cannot be fetched"
	case errors.As(err, &syntax):
		return "malformed"
	}
	return "not valid"
}
