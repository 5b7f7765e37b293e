package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
	"sensegate/store"
)

// idp is an identity provider on the loopback: its keys, and tokens signed with them.
type idp struct {
	*httptest.Server
	t       testing.TB
	fetches atomic.Int32

	mu   sync.Mutex
	name string // of the newest key
	key  *ecdsa.PrivateKey
	set  jose.JSONWebKeySet
}

func newIDP(t testing.TB) *idp {
	p := &idp{t: t}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(p.set)
	}))
	t.Cleanup(func() { p.Close(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	p.rotate("one")
	return p
}

// rotate takes a new key into use; the former one is withdrawn.
func (p *idp) rotate(name string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.key = name, key
	p.set = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: name, Algorithm: "ES256", Use: "sig"}}}
}

func (p *idp) config() auth.ProviderConfig {
	return auth.ProviderConfig{Name: "idp_a", Issuer: "https://id.example.com", Audience: "app", JWKSURL: p.URL, Algorithms: []string{"ES256"}}
}

// person is what a token says by default.
func person() jwt.MapClaims {
	now := time.Now()
	return jwt.MapClaims{
		"iss": "https://id.example.com", "aud": "app", "sub": "person-1", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"email": "jane@example.com", "email_verified": true, "given_name": "Jane",
	}
}

// but returns the claims with one changed; nil takes it out.
func but(key string, value any) jwt.MapClaims {
	return jwt.MapClaims(with(person(), key, value))
}

// sign returns a token of the provider.
func (p *idp) sign(claims jwt.MapClaims) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return signed(p.t, jwt.SigningMethodES256, p.name, claims, p.key)
}

func signed(t testing.TB, method jwt.SigningMethod, kid string, claims jwt.MapClaims, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// providers configures providers over the accounts, with their state in a directory.
func (o *office) providers(directory string, list ...auth.ProviderConfig) *auth.Providers {
	o.t.Helper()
	p, err := auth.NewProviders(list, directory, o.Accounts, slog.New(slog.DiscardHandler))
	if err != nil {
		o.t.Fatal(err)
	}
	return p
}

func (o *office) sso(p *auth.Providers, token string) (auth.Tokens, error) {
	return p.Login(o.t.Context(), "idp_a", token, auth.Credentials{FirstName: "X", LastName: "Doe", Multi: true, From: at(1)})
}

func TestProviderTokenMakesAndFindsTheAccount(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	first, err := o.sso(p, id.sign(person()))
	if err != nil {
		t.Fatal(err)
	}
	u := first.User
	if !o.valid(first.Token) || !u.Confirmed() || u.Email != "jane@example.com" || u.FirstName != "Jane" || u.LastName != "Doe" {
		t.Errorf("user %+v", u)
	}
	again, err := o.sso(p, id.sign(but("email", "moved@example.com")))
	if err != nil || again.User.ID != u.ID || again.User.Email != u.Email {
		t.Errorf("the same person with another address: %+v %v", again.User, err)
	}
	other, err := o.sso(p, id.sign(jwt.MapClaims(with(but("sub", "person-2"), "email", "tom@example.com"))))
	if err != nil || other.User.ID == u.ID {
		t.Errorf("another person: %+v %v", other.User, err)
	}
	o.wantKind(o.try("jane@example.com", "", 1), fault.Unauthorized)
	if n := id.fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestUnknownProviderIsNotFound(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	_, err := o.sso(o.providers(t.TempDir()), id.sign(person()))
	o.wantKind(err, fault.NotFound)
}

func TestForgedProviderTokensOpenNothing(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	if _, err := o.sso(p, id.sign(person())); err != nil {
		t.Fatal(err)
	}
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	longer, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	another, _ := rsa.GenerateKey(rand.Reader, 2048)
	der, _ := x509.MarshalPKIXPublicKey(&id.key.PublicKey)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	now := time.Now().Unix()
	genuine := id.sign(person())
	for name, token := range map[string]string{
		"empty": "", "a word": "token", "dots": "..", "our own session token": o.ownToken(), "cut": genuine[:len(genuine)-10],
		"too long":          genuine + strings.Repeat("A", 20000),
		"alg none":          signed(t, jwt.SigningMethodNone, "one", person(), jwt.UnsafeAllowNoneSignatureType),
		"HS256 of the key":  signed(t, jwt.SigningMethodHS256, "one", person(), public),
		"HS256 of its DER":  signed(t, jwt.SigningMethodHS256, "one", person(), der),
		"RS256":             signed(t, jwt.SigningMethodRS256, "one", person(), another),
		"PS256":             signed(t, jwt.SigningMethodPS256, "one", person(), another),
		"ES384":             signed(t, jwt.SigningMethodES384, "one", person(), longer),
		"a stranger's key":  signed(t, jwt.SigningMethodES256, "one", person(), stranger),
		"without kid":       signed(t, jwt.SigningMethodES256, "", person(), stranger),
		"unknown kid":       signed(t, jwt.SigningMethodES256, "other", person(), stranger),
		"other issuer":      id.sign(but("iss", "https://evil.example.com")),
		"issuer and slash":  id.sign(but("iss", "https://id.example.com/")),
		"no issuer":         id.sign(but("iss", nil)),
		"other audience":    id.sign(but("aud", "another-app")),
		"other audiences":   id.sign(but("aud", []string{"a", "b"})),
		"no audience":       id.sign(but("aud", nil)),
		"expired":           id.sign(but("exp", now-1)),
		"no expiry":         id.sign(but("exp", nil)),
		"not yet":           id.sign(but("nbf", now+3600)),
		"no subject":        id.sign(but("sub", nil)),
		"subject a number":  id.sign(but("sub", 1)),
		"verified a number": id.sign(but("email_verified", 1)),
	} {
		if _, err := o.sso(p, token); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%s: %v, want unauthorized", name, err)
		}
	}
	if n := id.fetches.Load(); n > 2 {
		t.Errorf("forged tokens have the keys fetched %d times", n)
	}
}

// ownToken is a session token of the appliance.
func (o *office) ownToken() string {
	o.t.Helper()
	o.person("own@example.com")
	tokens, err := o.Login(o.t.Context(), auth.Credentials{Email: "own@example.com", Password: password, From: at(1)})
	if err != nil {
		o.t.Fatal(err)
	}
	return tokens.Token
}

func TestKeysOfAProviderMayChange(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	directory := t.TempDir()
	p := o.providers(directory, id.config())
	old := id.sign(person())
	if _, err := o.sso(p, old); err != nil {
		t.Fatal(err)
	}
	id.rotate("two")
	p = o.providers(directory, id.config()) // knows the copy, and may look at once
	if _, err := o.sso(p, id.sign(person())); err != nil {
		t.Errorf("new key: %v", err)
	}
	_, err := o.sso(p, old)
	o.wantKind(err, fault.Unauthorized)
}

func TestProviderWorksWithoutInternet(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	directory := t.TempDir()
	if _, err := o.sso(o.providers(directory, id.config()), id.sign(person())); err != nil {
		t.Fatal(err)
	}
	id.Close()
	if _, err := o.sso(o.providers(directory, id.config()), id.sign(person())); err != nil {
		t.Errorf("with the copy on disk: %v", err)
	}
	_, err := o.sso(o.providers(t.TempDir(), id.config()), id.sign(person()))
	o.wantKind(err, fault.Unauthorized)
}

func TestProviderSignsWithRS256ByDefault(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	id.set.Keys = append(id.set.Keys, jose.JSONWebKey{Key: &key.PublicKey, KeyID: "rsa"})
	c := id.config()
	c.Algorithms = nil
	p := o.providers(t.TempDir(), c)
	if _, err := o.sso(p, signed(t, jwt.SigningMethodRS256, "rsa", person(), key)); err != nil {
		t.Error(err)
	}
	_, err = o.sso(p, id.sign(person()))
	o.wantKind(err, fault.Unauthorized)
}

func TestKeysMayComeFromAFile(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	path := filepath.Join(t.TempDir(), "keys.json")
	set, _ := json.Marshal(id.set)
	if err := os.WriteFile(path, set, 0o600); err != nil {
		t.Fatal(err)
	}
	c := id.config()
	c.JWKSURL, c.JWKSFile = "", path
	if _, err := o.sso(o.providers(t.TempDir(), c), id.sign(person())); err != nil {
		t.Error(err)
	}
	for name, content := range map[string]string{"nothing": "", "no keys": `{"keys":[]}`, "a secret": `{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256"}]}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.NewProviders([]auth.ProviderConfig{c}, t.TempDir(), o.Accounts, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestVerifiedAddressLeadsToItsConfirmedAccount(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	u := o.person("jane@example.com")
	_, err := o.sso(p, id.sign(but("email_verified", false)))
	o.wantKind(err, fault.Forbidden)
	if mails := o.mailed(); len(mails) != 1 || mails[0].Kind != notify.KnownAddress {
		t.Errorf("mails %+v", mails)
	}
	tokens, err := o.sso(p, id.sign(person()))
	if err != nil || tokens.User.ID != u.ID {
		t.Fatalf("%+v %v", tokens.User, err)
	}
	if mails := o.mailed(); len(mails) != 1 || mails[0].Kind != notify.IdentityLinked || mails[0].To != u.Email {
		t.Errorf("mails %+v", mails)
	}
	moved, err := o.sso(p, id.sign(but("email", "other@example.com"))) // found by the identity
	if err != nil || moved.User.ID != u.ID || len(o.mailed()) != 0 {
		t.Errorf("with another address: %+v %v", moved.User, err)
	}
	if err := o.try("jane@example.com", password, 2); err != nil {
		t.Errorf("the password: %v", err)
	}
}

func TestUnverifiedAddressHasToBeConfirmed(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	for _, unverified := range []any{false, "false", nil} {
		_, err := o.sso(p, id.sign(but("email_verified", unverified)))
		if f, ok := err.(*fault.Error); !ok || f.Kind != fault.Forbidden || f.Code != "unconfirmed" {
			t.Errorf("%v: %v", unverified, err)
		}
	}
	token := o.tokenMailed(notify.Confirm, "jane@example.com")
	if _, err := o.Confirm(t.Context(), token, at(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.sso(p, id.sign(but("email_verified", false))); err != nil {
		t.Errorf("after the confirmation: %v", err)
	}
}

func TestUnconfirmedAccountIsNotGivenToItsAddress(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	u := o.mustRegister("Jane@example.com", 9)
	confirm := o.tokenMailed(notify.Confirm, "Jane@example.com")
	_, err := o.sso(p, id.sign(but("email_verified", "true")))
	o.wantCode(err, fault.Conflict, "address_taken")
	o.send(u.Email, confirm)
	if _, err := o.ConfirmWithPassword(t.Context(), confirm, password, at(1)); err != nil {
		t.Errorf("the account was changed: %v", err)
	}
	tokens, err := o.sso(p, id.sign(person()))
	if err != nil || tokens.User.ID != u.ID {
		t.Errorf("confirmed: %+v %v", tokens.User, err)
	}
}

// send keeps a mail with a token as one that a mail server took at once.
func (o *office) send(to, token string) {
	o.t.Helper()
	err := o.db.Update(o.t.Context(), func(tx *store.Tx) error {
		u, _, err := tx.UserByEmail(to)
		if err != nil {
			return err
		}
		_, err = tx.AddMail(store.Mail{Kind: "confirm", UserID: u.ID, Address: to, Link: "#token=" + token, SentAt: tx.Now().Stamp(), Attempts: 1})
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func TestUnprovenAccountIsNotGivenToItsAddress(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	o.mustRegister("jane@example.com", 9)
	confirm := o.tokenMailed(notify.Confirm, "jane@example.com") // no mail server takes it
	if _, err := o.ConfirmWithPassword(t.Context(), confirm, password, at(1)); err != nil {
		t.Fatal(err)
	}
	_, err := o.sso(p, id.sign(person()))
	o.wantCode(err, fault.Conflict, "address_taken")
}

func TestSetupCodeProvesTheAddress(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	code, err := auth.NewSetupCode(t.Context(), o.db)
	if err != nil {
		t.Fatal(err)
	}
	u, err := o.Register(t.Context(), auth.Registration{Email: "jane@example.com", Password: password, SetupCode: code, From: at(1)})
	if err != nil {
		t.Fatal(err)
	}
	if tokens, err := o.sso(p, id.sign(person())); err != nil || tokens.User.ID != u.ID {
		t.Errorf("%+v %v", tokens.User, err)
	}
}

func TestTokenWithoutAddressIsInvalid(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	for _, address := range []any{nil, "", "no address"} {
		_, err := o.sso(p, id.sign(but("email", address)))
		o.wantKind(err, fault.Invalid)
	}
	err := o.db.View(t.Context(), func(tx *store.Tx) error {
		users, err := tx.Users()
		if len(users) > 0 {
			t.Errorf("users %+v", users)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfigurationMistakesAreAllTold(t *testing.T) {
	t.Parallel()
	c := auth.Defaults()
	if err := c.Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	good := auth.ProviderConfig{Name: "a", Issuer: "i", Audience: "x", JWKSFile: "f", Algorithms: []string{"ES256"}}
	bad := auth.ProviderConfig{Name: "A/", JWKSFile: "f", JWKSURL: "ftp://x", Algorithms: []string{"HS256", "none"}}
	c = auth.Config{Argon2: auth.Argon{Memory: 1, Passes: 99, Threads: 0}, Providers: []auth.ProviderConfig{good, good, bad}}
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, key := range []string{
		"argon2.memory_kib", "argon2.passes", "argon2.threads", "providers.1.name", "providers.2.name", "providers.2.issuer",
		"providers.2.audience", "providers.2.jwks_file or jwks_url", "providers.2.jwks_url", "providers.2.algorithms",
	} {
		if !strings.Contains(err.Error(), key+":") {
			t.Errorf("%q is not told in\n%v", key, err)
		}
	}
}
