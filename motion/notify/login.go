package notify

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"net/smtp"
	"slices"
	"strconv"
	"strings"
)

// maxIterations bounds the work that a server can ask of a log-in; servers ask for 4,096 to
// 100,000.
const maxIterations = 1_000_000

var errChallenge = errors.New("the server's challenge makes no sense")

// mechanism returns the best way to log in that a server offers (words separated by spaces):
// one that keeps the password from the server, or else one that sends it.
func (s *submission) mechanism(offered string, state *tls.ConnectionState) (smtp.Auth, error) {
	names := strings.Fields(offered)
	for _, hashed := range []struct {
		name string
		hash func() hash.Hash
	}{{"SCRAM-SHA-256", sha256.New}, {"SCRAM-SHA-1", sha1.New}} {
		way := &scram{name: hashed.name, hash: hashed.hash, user: s.config.Username, password: s.password, nonce: rand.Text()}
		switch {
		case !isPlainText(s.config.Username + s.password): // it would have to be normalized: RFC 4013
		case slices.Contains(names, way.name+"-PLUS") && way.bind(state):
			way.name += "-PLUS"
			return way, nil
		case slices.Contains(names, way.name):
			return way, nil
		}
	}
	switch {
	case slices.Contains(names, "CRAM-MD5"):
		return smtp.CRAMMD5Auth(s.config.Username, s.password), nil
	case slices.Contains(names, "PLAIN"):
		return smtp.PlainAuth("", s.config.Username, s.password, s.config.Host), nil
	case slices.Contains(names, "LOGIN"):
		return &login{s.config.Username, s.password}, nil
	}
	return nil, fmt.Errorf("the server offers no log-in that is known here: %.200q", offered)
}

// isPlainText reports whether a text has only printable ASCII characters.
func isPlainText(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// login is the mechanism LOGIN (draft-murchison-sasl-login): the server asks for the name,
// then for the password, in words that do not matter.
type login []string

func (*login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS {
		return "", nil, errors.New("the connection is not encrypted")
	}
	return "LOGIN", nil, nil
}

func (l *login) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	if len(*l) == 0 {
		return nil, errChallenge
	}
	answer := (*l)[0]
	*l = (*l)[1:]
	return []byte(answer), nil
}

// scram is a mechanism SCRAM (RFC 5802, RFC 7677) for one log-in: neither side tells the
// other the password, both prove that they know it.
type scram struct {
	name           string
	hash           func() hash.Hash
	user, password string // printable ASCII
	nonce          string
	channel        string // name of what binds the log-in to the TLS connection; "": nothing does
	channelData    []byte
	first          string // our first message, without what says the channel
	proof          []byte // of the server; nil: not known yet
	proven         bool   // the server has shown it
}

// bind binds the log-in to a TLS connection (RFC 9266, RFC 5929). It reports whether it can.
func (a *scram) bind(state *tls.ConnectionState) bool {
	var err error
	a.channel, a.channelData = "tls-unique", state.TLSUnique
	if state.Version >= tls.VersionTLS13 {
		a.channel = "tls-exporter"
		a.channelData, err = state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	}
	if err != nil || len(a.channelData) == 0 {
		a.channel, a.channelData = "", nil
		return false
	}
	return true
}

// flag begins the first message: whether there is a channel.
func (a *scram) flag() string {
	if a.channel == "" {
		return "n,,"
	}
	return "p=" + a.channel + ",,"
}

func (a *scram) Start(*smtp.ServerInfo) (string, []byte, error) {
	a.first = "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(a.user) + ",r=" + a.nonce
	return a.name, []byte(a.flag() + a.first), nil
}

func (a *scram) Next(challenge []byte, more bool) ([]byte, error) {
	switch {
	case !more && !a.proven:
		return nil, errors.New("the server has not proven that it knows the password")
	case !more:
		return nil, nil
	case a.proof == nil:
		return a.answer(string(challenge))
	}
	proof, isProof := bytes.CutPrefix(challenge, []byte("v="))
	shown, err := base64.StdEncoding.DecodeString(string(proof))
	if !isProof || err != nil || subtle.ConstantTimeCompare(shown, a.proof) != 1 {
		return nil, errors.New("the server does not know the password")
	}
	a.proven = true
	return []byte{}, nil
}

// answer returns our proof for the server's first message, and keeps what its own has to be.
func (a *scram) answer(challenge string) ([]byte, error) {
	parts := strings.Split(challenge, ",")
	if len(parts) < 3 || !strings.HasPrefix(parts[0], "r="+a.nonce) || len(parts[0]) == len("r="+a.nonce) {
		return nil, errChallenge
	}
	salt, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[1], "s="))
	if err != nil || len(salt) == 0 {
		return nil, errChallenge
	}
	iterations, err := strconv.Atoi(strings.TrimPrefix(parts[2], "i="))
	if err != nil || iterations < 1 || iterations > maxIterations {
		return nil, errChallenge
	}
	salted, err := pbkdf2.Key(a.hash, a.password, salt, iterations, a.hash().Size())
	if err != nil {
		return nil, err
	}
	bound := base64.StdEncoding.EncodeToString(append([]byte(a.flag()), a.channelData...))
	last := "c=" + bound + "," + parts[0]
	whole := a.first + "," + challenge + "," + last
	key := a.mac(salted, "Client Key")
	digest := a.hash()
	digest.Write(key)
	proof := a.mac(digest.Sum(nil), whole)
	subtle.XORBytes(proof, proof, key)
	a.proof = a.mac(a.mac(salted, "Server Key"), whole)
	return []byte(last + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

func (a *scram) mac(key []byte, text string) []byte {
	m := hmac.New(a.hash, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
