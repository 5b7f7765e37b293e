package auth_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"hash"
	"maps"
	"net/netip"
	"os"
	"strings"
	"testing"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
)

var b64 = base64.RawURLEncoding

// payloadOf returns the claims of a token as text.
func payloadOf(t testing.TB, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no token", token)
	}
	text, err := b64.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// forger makes tokens of its own from a right one.
type forger struct {
	t       *testing.T
	secret  []byte // the appliance's
	header  map[string]any
	claims  map[string]any
	genuine string
}

func newForger(t *testing.T, o *office, token string) forger {
	t.Helper()
	raw, err := os.ReadFile(o.path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Keys []struct{ Secret []byte } }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	f := forger{t: t, secret: file.Keys[len(file.Keys)-1].Secret, genuine: token}
	header, _ := b64.DecodeString(strings.Split(token, ".")[0])
	if err := json.Unmarshal(header, &f.header); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(payloadOf(t, token)), &f.claims); err != nil {
		t.Fatal(err)
	}
	return f
}

// with returns a copy with a value changed; nil takes it out.
func with(of map[string]any, key string, value any) map[string]any {
	changed := maps.Clone(of)
	changed[key] = value
	if value == nil {
		delete(changed, key)
	}
	return changed
}

// sign returns a token of the parts, signed with a secret.
func (f forger) sign(header, claims map[string]any, secret []byte, size func() hash.Hash) string {
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	text := b64.EncodeToString(h) + "." + b64.EncodeToString(c)
	mac := hmac.New(size, secret)
	mac.Write([]byte(text))
	return text + "." + b64.EncodeToString(mac.Sum(nil))
}

// own returns a token with claims changed, signed with the appliance's own key: what
// is refused of it is refused for what it says.
func (f forger) own(key string, value any) string {
	return f.sign(f.header, with(f.claims, key, value), f.secret, sha256.New)
}

// forgeries returns tokens that no purpose accepts, by what is wrong with them.
func (f forger) forgeries() map[string]string {
	parts := strings.Split(f.genuine, ".")
	head, body, sum := parts[0], parts[1], parts[2]
	plain := func(header string) string { return b64.EncodeToString([]byte(header)) + "." + body }
	other := make([]byte, 32)
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	respelled := []byte(sum) // the last character has two bits that say nothing
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	respelled[len(sum)-1] = letters[strings.IndexByte(letters, sum[len(sum)-1])^1]
	eddsa := plain(`{"alg":"EdDSA","typ":"JWT","kid":"` + f.header["kid"].(string) + `"}`)
	signRSA := func() string {
		text := plain(`{"alg":"RS256","kid":"` + f.header["kid"].(string) + `"}`)
		digest := sha256.Sum256([]byte(text))
		signature, _ := rsa.SignPKCS1v15(nil, rsaKey, 5, digest[:])
		return text + "." + b64.EncodeToString(signature)
	}
	return map[string]string{
		"empty": "", "a word": "token", "one part": head, "two parts": head + "." + body, "no signature": head + "." + body + ".",
		"four parts": f.genuine + ".x", "five parts (encrypted)": f.genuine + "." + sum + "." + sum, "only dots": "..", "ten thousand dots": strings.Repeat(".", 10000),
		"a space before": " " + f.genuine, "a newline after": f.genuine + "\n", "a null byte": f.genuine + "\x00", "padding": f.genuine + "=",
		"padded parts": head + "=." + body + "=." + sum + "=", "re-spelled signature": head + "." + body + "." + string(respelled),
		"signature of another letter": head + "." + body + "." + strings.ToLower(sum), "cut signature": head + "." + body + "." + sum[:20],
		"signature of zeros": head + "." + body + "." + b64.EncodeToString(make([]byte, 32)),
		"standard base64":    head + "." + body + "." + base64.StdEncoding.EncodeToString([]byte("????>>>>????>>>>????>>>>????>>>>")),
		"alg none":           plain(`{"alg":"none","typ":"JWT"}`) + ".", "alg none with the key": plain(`{"alg":"none","kid":"`+f.header["kid"].(string)+`"}`) + ".",
		"alg NONE": plain(`{"alg":"NONE"}`) + ".", "alg nOnE signed": plain(`{"alg":"nOnE"}`) + "." + sum, "no alg": plain(`{"typ":"JWT"}`) + "." + sum,
		"alg empty":           f.sign(with(f.header, "alg", ""), f.claims, f.secret, sha256.New),
		"alg a number":        f.sign(with(f.header, "alg", 256), f.claims, f.secret, sha256.New),
		"alg a list":          f.sign(with(f.header, "alg", []string{"HS256"}), f.claims, f.secret, sha256.New),
		"alg hs256":           f.sign(with(f.header, "alg", "hs256"), f.claims, f.secret, sha256.New),
		"HS384 with our key":  f.sign(with(f.header, "alg", "HS384"), f.claims, f.secret, sha512.New384),
		"HS512 with our key":  f.sign(with(f.header, "alg", "HS512"), f.claims, f.secret, sha512.New),
		"HS512 named HS256":   f.sign(f.header, f.claims, f.secret, sha512.New),
		"EdDSA of a stranger": eddsa + "." + b64.EncodeToString(ed25519.Sign(private, []byte(eddsa))), "RS256 of a stranger": signRSA(),
		"another secret":      f.sign(f.header, f.claims, other, sha256.New),
		"an empty secret":     f.sign(f.header, f.claims, nil, sha256.New),
		"the kid as secret":   f.sign(f.header, f.claims, []byte(f.header["kid"].(string)), sha256.New),
		"no kid":              f.sign(with(f.header, "kid", nil), f.claims, f.secret, sha256.New),
		"unknown kid":         f.sign(with(f.header, "kid", "another"), f.claims, f.secret, sha256.New),
		"kid a path":          f.sign(with(f.header, "kid", "../../dev/null"), f.claims, nil, sha256.New),
		"kid a number":        f.sign(with(f.header, "kid", 1), f.claims, f.secret, sha256.New),
		"kid null, jwk given": f.sign(with(with(f.header, "kid", nil), "jwk", map[string]any{"kty": "oct", "k": b64.EncodeToString(other)}), f.claims, other, sha256.New),
		"another user":        f.swap("uid", 2), "another user, old signature": strings.Replace(f.genuine, body, b64.EncodeToString([]byte(`{"uid":1}`)), 1),
		"no exp": f.own("exp", nil), "exp past": f.own("exp", 1763999999), "exp zero": f.own("exp", 0), "exp text": f.own("exp", "2100-01-01"),
		"exp negative": f.own("exp", -1), "nbf ahead": f.own("nbf", 1999999999), "no iat": f.own("iat", nil), "iat text": f.own("iat", "now"),
		"no issuer": f.own("iss", nil), "another issuer": f.own("iss", "https://id.example.com"), "issuer in capitals": f.own("iss", "SENSEGATE"),
		"no audience": f.own("aud", nil), "empty audience": f.own("aud", []string{}), "two audiences": f.own("aud", []any{f.claims["aud"], "admin"}),
		"another audience": f.own("aud", "core"), "audience in capitals": f.own("aud", "SESSION"), "audience a number": f.own("aud", 1),
		"no subject": f.own("sub", nil), "another subject": f.own("sub", "00000000-0000-4000-8000-000000000000"),
		"no user": f.own("uid", nil), "user 0": f.own("uid", 0), "user -1": f.own("uid", -1), "user as text": f.own("uid", "1"),
		"user beyond numbers": f.own("uid", 1e30), "claims a list": f.sign(f.header, map[string]any{"": []any{}}, f.secret, sha256.New),
	}
}

// swap returns the token with a claim changed and its old signature.
func (f forger) swap(key string, value any) string {
	parts := strings.Split(f.genuine, ".")
	c, _ := json.Marshal(with(f.claims, key, value))
	return parts[0] + "." + b64.EncodeToString(c) + "." + parts[2]
}

// purposes are what tokens are for, and how each is used.
func (o *office) purposes() map[string]func(string) error {
	ctx := o.t.Context()
	from := func() netip.Addr { // wrong tokens are counted by address, and a count may be shared
		n := o.addresses.Add(1)
		return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
	}
	return map[string]func(string) error{
		"session": func(s string) error { _, err := o.sessions.Check(ctx, s, at(1)); return err },
		"refresh": func(s string) error { _, err := o.sessions.Refresh(ctx, s, true); return err },
		"confirm": func(s string) error { _, err := o.Confirm(ctx, s, from()); return err },
		"reset":   func(s string) error { _, err := o.Reset(ctx, s, "another horse", from()); return err },
	}
}

// genuine returns a valid token of each purpose.
func (o *office) genuine() map[string]string {
	o.t.Helper()
	tokens := o.login(true)
	all := map[string]string{"session": tokens.Token, "refresh": tokens.RefreshToken}
	if err := o.SendReset(o.t.Context(), email, at(1)); err != nil {
		o.t.Fatal(err)
	}
	all["reset"] = o.tokenMailed(notify.Reset, email)
	if _, err := o.Register(o.t.Context(), auth.Registration{Email: "new@example.com", Password: password, From: at(1)}); err != nil {
		o.t.Fatal(err)
	}
	all["confirm"] = o.tokenMailed(notify.Confirm, "new@example.com")
	return all
}

func TestForgedTokensOpenNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	genuine := o.genuine()
	tried := 0
	for purpose, token := range genuine {
		forged := newForger(t, o, token).forgeries()
		if len(forged) < 40 {
			t.Fatalf("only %d forgeries", len(forged))
		}
		for other, use := range o.purposes() {
			for what, text := range forged {
				tried++
				if err := use(text); fault.KindOf(err) != fault.Unauthorized {
					t.Errorf("%s token, %s, used as %s: %v", purpose, what, other, err)
				}
			}
			if other != purpose {
				if err := use(token); err == nil {
					t.Errorf("%s token opens %s", purpose, other)
				}
			}
		}
	}
	t.Logf("%d forgeries were tried", tried)
	for _, purpose := range []string{"session", "refresh", "confirm", "reset"} {
		if err := o.purposes()[purpose](genuine[purpose]); err != nil {
			t.Errorf("the genuine %s token: %v", purpose, err)
		}
	}
}

func TestAudienceIsAStringAndMayBeAnArrayOfOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	genuine := o.genuine()
	for _, purpose := range []string{"session", "refresh", "confirm", "reset"} { // the last ends sessions
		f := newForger(t, o, genuine[purpose])
		if f.claims["aud"] != purpose {
			t.Errorf("%s token: aud %#v, want a string (payloads.md 5.1)", purpose, f.claims["aud"])
		}
		if err := o.purposes()[purpose](f.own("aud", []string{purpose})); err != nil {
			t.Errorf("%s token with an array: %v", purpose, err)
		}
	}
}
