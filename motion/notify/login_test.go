package notify

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	mta "github.com/emersion/go-smtp"
	gomail "github.com/wneessen/go-mail"

	"sensegate/motion/hook"
	"sensegate/store"
)

// TestScramIsThatOfItsDocuments plays the examples of RFC 5802 section 5 and RFC 7677 section 3.
func TestScramIsThatOfItsDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a                      scram
		challenge, want, proof string
	}{
		{scram{hash: sha1.New, nonce: "fyko+d2lbbFgONRv9qkxdawL"},
			"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
			"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
		{scram{hash: sha256.New, nonce: "rOprNGfwEbeRWgbNEkqO"},
			"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
			"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="},
	} {
		a := c.a
		a.user, a.password = "user", "pencil"
		if _, first, err := a.Start(nil); err != nil || string(first) != "n,,n=user,r="+a.nonce {
			t.Errorf("first %q, %v", first, err)
		}
		if answer, err := a.Next([]byte(c.challenge), true); err != nil || string(answer) != c.want {
			t.Errorf("answer %q, %v; want %q", answer, err, c.want)
		}
		if last, err := a.Next([]byte(c.proof), true); err != nil || last == nil || len(last) != 0 {
			t.Errorf("last %q, %v", last, err)
		}
		if _, err := a.Next(nil, false); err != nil {
			t.Error(err)
		}
	}
}

func TestScramRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	start := func() *scram {
		a := &scram{hash: sha256.New, user: "user", password: "pencil", nonce: "ours"}
		if _, _, err := a.Start(nil); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, challenge := range []string{
		"", "r=ours+theirs", "r=ours,s=W22Z,i=4096", "r=theirs,s=W22Z,i=4096", "r=ours+theirs,s=,i=4096", "r=ours+theirs,s=???,i=4096",
		"r=ours+theirs,s=W22Z,i=0", "r=ours+theirs,s=W22Z,i=-1", "r=ours+theirs,s=W22Z,i=1000001", "r=ours+theirs,s=W22Z,i=", "m=x,r=ours+theirs,s=W22Z,i=1",
	} {
		if answer, err := start().Next([]byte(challenge), true); err == nil {
			t.Errorf("%q is answered with %q", challenge, answer)
		}
	}
	for _, proof := range []string{"", "v=", "v=AAAA", "e=other-error", "r=ours+theirs,s=W22Z,i=1"} {
		a := start()
		if _, err := a.Next([]byte("r=ours+theirs,s=W22Z,i=1"), true); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Next([]byte(proof), true); err == nil {
			t.Errorf("%q passes as a proof", proof)
		}
		if _, err := a.Next(nil, false); err == nil {
			t.Error("without a proof the log-in is over")
		}
	}
}

// challenge is the mail server's side of a log-in. TestTheReferenceLogsIn holds it.
func (s *mailSession) challenge(way string) sasl.Server {
	check := func(user string, ok bool) error {
		if !ok {
			return mta.ErrAuthFailed
		}
		s.user = user
		return nil
	}
	switch way {
	case "LOGIN":
		return &loginServer{password: s.server.password, check: check}
	case "CRAM-MD5":
		return &cramServer{password: s.server.password, check: check}
	}
	server := &scramServer{password: s.server.password, check: check, lies: s.server.lies, hash: sha256.New, flag: "n,,"}
	if strings.Contains(way, "SHA-1") {
		server.hash = sha1.New
	}
	if strings.HasSuffix(way, "-PLUS") {
		server.flag, server.channel = "p=tls-unique,,", s.tls.TLSUnique
		if s.tls.Version == tls.VersionTLS13 {
			server.flag = "p=tls-exporter,,"
			server.channel, _ = s.tls.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
		}
	}
	return server
}

type loginServer struct {
	password string
	check    func(user string, ok bool) error
	answers  []string
}

func (l *loginServer) Next(response []byte) ([]byte, bool, error) {
	if response != nil {
		l.answers = append(l.answers, string(response))
	}
	if len(l.answers) == 2 {
		return nil, true, l.check(l.answers[0], l.answers[1] == l.password)
	}
	return []byte([]string{"User Name", "Password"}[len(l.answers)]), false, nil
}

type cramServer struct {
	password string
	check    func(user string, ok bool) error
}

func (c *cramServer) Next(response []byte) ([]byte, bool, error) {
	const challenge = "<1.2@mail.test>"
	if len(response) == 0 {
		return []byte(challenge), false, nil
	}
	m := hmac.New(md5.New, []byte(c.password))
	m.Write([]byte(challenge))
	user, digest, _ := strings.Cut(string(response), " ")
	return nil, true, c.check(user, digest == hex.EncodeToString(m.Sum(nil)))
}

// scramServer is the server's side of RFC 5802, from the formulas of its section 3.
type scramServer struct {
	password, flag string
	channel        []byte
	hash           func() hash.Hash
	lies           bool
	check          func(user string, ok bool) error

	user, first, second string
	done                bool
}

const scramSalt = "W22ZaJ0SNY7soEsUEjb6gQ=="

func (s *scramServer) Next(response []byte) ([]byte, bool, error) {
	switch {
	case s.done:
		return nil, true, nil
	case len(response) == 0:
		return nil, false, nil
	case s.first == "":
		bare, ok := strings.CutPrefix(string(response), s.flag)
		name, nonce, two := strings.Cut(bare, ",r=")
		if !ok || !two {
			return nil, true, mta.ErrAuthFailed
		}
		s.first, s.user = bare, strings.NewReplacer("=3D", "=", "=2C", ",").Replace(strings.TrimPrefix(name, "n="))
		s.second = "r=" + nonce + "3rfcNHYJY1ZVvWVs7j,s=" + scramSalt + ",i=4096"
		return []byte(s.second), false, nil
	}
	return s.verify(string(response))
}

func (s *scramServer) verify(last string) ([]byte, bool, error) {
	mac := func(key []byte, text string) []byte {
		m := hmac.New(s.hash, key)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	digest := func(text []byte) []byte {
		h := s.hash()
		h.Write(text)
		return h.Sum(nil)
	}
	salt, _ := base64.StdEncoding.DecodeString(scramSalt)
	salted, err := pbkdf2.Key(s.hash, s.password, salt, 4096, s.hash().Size())
	if err != nil {
		return nil, true, err
	}
	bare, proof, _ := strings.Cut(last, ",p=")
	nonce, _, _ := strings.Cut(s.second, ",")
	bound := base64.StdEncoding.EncodeToString(append([]byte(s.flag), s.channel...))
	whole := s.first + "," + s.second + "," + bare
	stored := digest(mac(salted, "Client Key"))
	key, err := base64.StdEncoding.DecodeString(proof)
	if err != nil || bare != "c="+bound+","+nonce || len(key) != len(stored) {
		return nil, true, mta.ErrAuthFailed
	}
	subtle.XORBytes(key, key, mac(stored, whole))
	if err := s.check(s.user, string(digest(key)) == string(stored)); err != nil {
		return nil, true, err
	}
	s.done = true
	own := mac(mac(salted, "Server Key"), whole)
	if s.lies {
		own[0] ^= 1
	}
	return []byte("v=" + base64.StdEncoding.EncodeToString(own)), false, nil
}

var allWays = []string{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1", "CRAM-MD5", "PLAIN", "LOGIN"}

// loggingIn is a server that wants a log-in, and a submission to it.
func loggingIn(t *testing.T, encryption string, offers ...string) (*mailServer, *submission) {
	server := serveMail(t, encryption)
	server.password, server.offers = "an invented, = password", offers
	s, err := newSubmission(SMTPConfig{
		Host: server.host, Port: server.port, TLS: encryption, From: "home@example.com", CA: server.ca, Username: "a,b=c", Password: server.password,
	})
	if err != nil {
		t.Fatal(err)
	}
	return server, s
}

func TestEachWayToLogInWorks(t *testing.T) {
	t.Parallel()
	for _, encryption := range []string{startTLS, implicitTLS} {
		for _, way := range allWays {
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				server, s := loggingIn(t, encryption, way)
				s.tls.MaxVersion = version
				result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com", Subject: "s", Text: "t"})
				all := server.all()
				if result != hook.Accepted || err != nil || len(all) != 1 || all[0].user != "a,b=c" || all[0].way != way {
					t.Errorf("%s, %s, %s: %v, %v, %+v", encryption, way, tls.VersionName(version), result, err, all)
				}
			}
		}
	}
}

// TestTheReferenceLogsIn has another client log in at the servers of these tests.
func TestTheReferenceLogsIn(t *testing.T) {
	t.Parallel()
	for _, way := range allWays {
		server, s := loggingIn(t, startTLS, way)
		client, err := gomail.NewClient(server.host, gomail.WithPort(server.port), gomail.WithTLSConfig(s.tls), gomail.WithTLSPolicy(gomail.TLSMandatory),
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername("a,b=c"), gomail.WithPassword(server.password))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.DialWithContext(t.Context()); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		_ = client.Close()
	}
}

func TestTheBestWayToLogInIsTaken(t *testing.T) {
	t.Parallel()
	for i, want := range []string{
		"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "CRAM-MD5", "PLAIN", "LOGIN", // the best is always gone for the next
	} {
		order := []string{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "CRAM-MD5", "PLAIN", "LOGIN"}[i:]
		slices.Reverse(order)
		server, s := loggingIn(t, startTLS, append(order, "XOAUTH2", "EXTERNAL")...)
		if _, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if all := server.all(); len(all) != 1 || all[0].way != want {
			t.Errorf("%+v, want %s", all, want)
		}
	}
}

// Of a password with other characters there are several spellings, which SCRAM would have to
// make one.
func TestPasswordBeyondASCIIIsSentAsItIs(t *testing.T) {
	t.Parallel()
	server, s := loggingIn(t, startTLS, allWays[:4]...)
	server.password, s.password = "Pässwort", "Pässwort"
	if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || !strings.Contains(err.Error(), "no log-in") {
		t.Errorf("%v, %v", result, err)
	}
	server, s = loggingIn(t, startTLS, append(allWays[:4:4], "PLAIN")...)
	server.password, s.password = "Pässwort", "Pässwort"
	if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.Accepted || err != nil || server.all()[0].way != "PLAIN" {
		t.Errorf("%v, %v", result, err)
	}
}

func TestFailedLogInIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, way := range allWays {
		server, s := loggingIn(t, startTLS, way)
		s.password = "another password"
		if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || err == nil || server.tried() != 0 {
			t.Errorf("%s, wrong password: %v, %v", way, result, err)
		}
	}
	for _, way := range allWays[:4] {
		server, s := loggingIn(t, startTLS, way)
		server.lies = true
		if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || err == nil || server.tried() != 0 {
			t.Errorf("%s, server without the password: %v, %v", way, result, err)
		}
	}
	_, s := loggingIn(t, startTLS, "GSSAPI")
	if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || !strings.Contains(err.Error(), "GSSAPI") {
		t.Errorf("unknown: %v, %v", result, err)
	}
}

func TestNoPasswordIsSentWithoutEncryption(t *testing.T) {
	t.Parallel()
	server, s := loggingIn(t, withoutTLS, allWays...)
	if result, err := s.send(t.Context(), store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || !strings.Contains(err.Error(), "not encrypted") || server.tried() != 0 {
		t.Errorf("%v, %v", result, err)
	}
}

func TestSendingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server, s := loggingIn(t, startTLS)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := s.send(ctx, store.Mail{Address: "jdoe@example.com"}); result != hook.TryAgain || err == nil || server.tried() != 0 {
		t.Errorf("%v, %v", result, err)
	}
}
