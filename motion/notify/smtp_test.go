package notify

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	mta "github.com/emersion/go-smtp"

	"sensegate/store"
)

// mailServer is a mail server of RFC 5321 that keeps what it is given.
type mailServer struct {
	host string
	port int
	ca   string // PEM
	tls  *tls.Config

	mu       sync.Mutex
	tries    int
	received []received
	refuse   map[string]error // RCPT of an address
	password string           // "" = no log-in is asked for
	offers   []string         // ways to log in; nil: PLAIN
	lies     bool             // about knowing the password (SCRAM)
}

// received is a mail as the server got it.
type received struct {
	from, to  string
	encrypted bool
	user      string
	way       string // to log in
	message   *mail.Message
	body      string
}

// serveMail starts a mail server. How it encrypts is that of the configuration.
func serveMail(t *testing.T, encryption string) *mailServer {
	t.Helper()
	certificate := httptest.NewTLSServer(nil) // only for its certificate
	defer certificate.Close()
	s := &mailServer{
		tls:    &tls.Config{Certificates: certificate.TLS.Certificates, MinVersion: tls.VersionTLS12},
		ca:     string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate().Raw})),
		refuse: map[string]error{},
	}
	server := mta.NewServer(s)
	server.Domain, server.ErrorLog = "mail.test", log.New(io.Discard, "", 0)
	server.AllowInsecureAuth = false
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	s.host, s.port = address.IP.String(), address.Port
	switch encryption {
	case implicitTLS:
		listener = tls.NewListener(listener, s.tls)
	case startTLS:
		server.TLSConfig = s.tls
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = listener.Close() // in case it does not serve yet: then Close does not know of it
		_ = server.Close()
		<-ended
	})
	return s
}

// config returns how to reach the server.
func (s *mailServer) config(encryption string) func(*Options) {
	return func(o *Options) {
		o.Mail.SMTP = SMTPConfig{Host: s.host, Port: s.port, TLS: encryption, From: "Home <home@example.com>", CA: s.ca}
	}
}

func (s *mailServer) all() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.received...)
}

func (s *mailServer) tried() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

// refusing sets what the server answers to mails for an address; nil: it takes them.
func (s *mailServer) refusing(address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[address] = err
}

func (s *mailServer) NewSession(c *mta.Conn) (mta.Session, error) {
	state, encrypted := c.TLSConnectionState()
	return &mailSession{server: s, tls: &state, received: received{encrypted: encrypted}}, nil
}

type mailSession struct {
	server *mailServer
	tls    *tls.ConnectionState
	received
}

func (s *mailSession) AuthMechanisms() []string {
	if s.server.offers != nil {
		return s.server.offers
	}
	return []string{sasl.Plain}
}

func (s *mailSession) Auth(way string) (sasl.Server, error) {
	s.way = way
	if way != sasl.Plain {
		return s.challenge(way), nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != s.server.password {
			return mta.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *mta.MailOptions) error {
	if s.server.password != "" && s.user == "" {
		return mta.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *mta.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.tries++
	s.to = to
	return s.server.refuse[to]
}

func (s *mailSession) Data(r io.Reader) (err error) {
	if s.message, err = mail.ReadMessage(r); err != nil {
		return err
	}
	raw, err := io.ReadAll(quotedprintable.NewReader(s.message.Body))
	s.body = strings.ReplaceAll(string(raw), "\r\n", "\n")
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.received = append(s.server.received, s.received)
	return err
}

func (*mailSession) Reset()        {}
func (*mailSession) Logout() error { return nil }

// send makes one round of the outbox.
func (b *box) send(o *Outbox) {
	b.Helper()
	if err := o.send(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func TestMailIsSentEncryptedWithItsLink(t *testing.T) {
	t.Parallel()
	for _, encryption := range []string{startTLS, implicitTLS} {
		b := newBox(t)
		server := serveMail(t, encryption)
		server.password = "an invented password"
		o := b.notifier(server.config(encryption), func(o *Options) {
			o.Mail.SMTP.Username, o.Mail.SMTP.Password = "home", server.password
		}).Outbox
		b.mail(o, Mail{Kind: Reset, To: "jdoe@example.com", User: b.owner.ID, Token: "secret-token", Expires: b.stamp().Add(time.Hour)})
		if m := b.mails()[0]; StateOf(m) != Queued {
			t.Errorf("before: %+v", m)
		}
		b.send(o)
		all := server.all()
		if len(all) != 1 {
			t.Fatalf("%s: %d mails; %+v\n%s", encryption, len(all), b.mails(), b.log)
		}
		got := all[0]
		if !got.encrypted || got.user != "home" || got.from != "home@example.com" || got.to != "jdoe@example.com" {
			t.Errorf("%s: %+v", encryption, got)
		}
		header := got.message.Header
		if header.Get("Subject") != "Set a new password" || header.Get("Auto-Submitted") != "auto-generated" || header.Get("From") != `"Home" <home@example.com>` || header.Get("Message-Id") == "" {
			t.Errorf("header %v", header)
		}
		m := b.mails()[0]
		if got.body != Text(m) || !strings.Contains(got.body, base+"/reset#token=secret-token") {
			t.Errorf("body %q", got.body)
		}
		if StateOf(m) != Sent || m.SentAt != b.stamp() || m.Attempts != 1 || m.DueAt != 0 || m.LastError != "" {
			t.Errorf("after: %+v", m)
		}
		b.send(o)
		if server.tried() != 1 {
			t.Error("sent twice")
		}
		b.wantQuiet("secret-token", "jdoe@", "invented")
	}
}

func TestPlainMailIsSentOnlyWhereItIsConfigured(t *testing.T) {
	t.Parallel()
	server := serveMail(t, withoutTLS)
	for encryption, want := range map[string]int{startTLS: 0, withoutTLS: 1} {
		b := newBox(t)
		o := b.notifier(server.config(encryption)).Outbox
		b.mail(o, Mail{Kind: Invite, To: encryption + "@example.com", Home: b.home})
		b.send(o)
		sent := 0
		for _, r := range server.all() {
			if r.to == encryption+"@example.com" {
				sent++
			}
		}
		if m := b.mails()[0]; sent != want || (StateOf(m) == Sent) != (want == 1) || StateOf(m) == Failed {
			t.Errorf("%s: %d sent, %+v", encryption, sent, m)
		}
	}
}

func TestMailServerHasToProveWhoItIs(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	server := serveMail(t, startTLS)
	o := b.notifier(server.config(startTLS), func(o *Options) { o.Mail.SMTP.Host = "localhost" }).Outbox // the certificate has another name
	b.mail(o, Mail{Kind: Invite, To: "a@example.com", Home: b.home})
	b.send(o)
	if m := b.mails()[0]; StateOf(m) != Queued || server.tried() != 0 {
		t.Errorf("%+v after %d tries", m, server.tried())
	}
}

func TestRefusedMailIsNotSentAgain(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	server := serveMail(t, startTLS)
	server.refusing("gone@example.com", &mta.SMTPError{Code: 550, EnhancedCode: mta.EnhancedCode{5, 1, 1}, Message: "no such mailbox"})
	o := b.notifier(server.config(startTLS)).Outbox
	b.mail(o, Mail{Kind: Invite, To: "gone@example.com", Home: b.home})
	b.mail(o, Mail{Kind: Invite, To: "there@example.com", Home: b.home})
	b.send(o)
	b.forward(2 * time.Hour)
	b.send(o)
	all := b.mails()
	if StateOf(all[0]) != Failed || all[0].Attempts != 1 || !strings.Contains(all[0].LastError, "no such mailbox") || server.tried() != 2 {
		t.Errorf("%+v after %d tries", all[0], server.tried())
	}
	if StateOf(all[1]) != Sent {
		t.Errorf("the next one: %+v", all[1])
	}
	var metrics strings.Builder
	o.metrics(&metrics)
	if want := "sensegate_mails_total{result=\"sent\"} 1\nsensegate_mails_total{result=\"refused\"} 1\nsensegate_mails_total{result=\"failed\"} 0\nsensegate_mails_queued 0\n"; metrics.String() != want {
		t.Errorf("%s", metrics.String())
	}
	b.wantQuiet("gone@", "mailbox")
}

func TestMailThatHasToWaitIsSentLater(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	server := serveMail(t, startTLS)
	server.refusing("a@example.com", &mta.SMTPError{Code: 451, EnhancedCode: mta.EnhancedCode{4, 7, 1}, Message: "come back later"})
	o := b.notifier(server.config(startTLS)).Outbox
	b.mail(o, Mail{Kind: Invite, To: "a@example.com", Home: b.home})
	for tries := 1; tries <= 3; tries++ {
		b.send(o)
		m := b.mails()[0]
		full := time.Minute << (tries - 1)
		if wait := m.DueAt.Since(b.stamp()); m.Attempts != tries || wait < full/2 || wait > full || !strings.Contains(m.LastError, "come back later") {
			t.Errorf("try %d: wait %v, %+v", tries, wait, m)
		}
		b.send(o)
		if server.tried() != tries {
			t.Errorf("%d tries before the time", server.tried())
		}
		b.forward(full)
	}
	server.refusing("a@example.com", nil)
	b.send(o)
	if m := b.mails()[0]; StateOf(m) != Sent || m.LastError != "" || len(server.all()) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestMailIsGivenUpWhenItsLinkHasExpired(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := b.notifier(func(o *Options) {
		o.Mail.SMTP = SMTPConfig{Host: "127.0.0.1", Port: 1, TLS: startTLS, From: "home@example.com"} // nobody listens
	}).Outbox
	b.mail(o, Mail{Kind: Reset, To: "a@example.com", User: b.owner.ID, Token: "t", Expires: b.stamp().Add(10 * time.Minute)})
	b.mail(o, Mail{Kind: KnownAddress, To: "b@example.com", User: b.owner.ID})
	for range 60 {
		b.send(o)
		b.forward(time.Hour)
	}
	all := b.mails()
	if StateOf(all[0]) != Failed || all[0].Attempts > 2 {
		t.Errorf("with a link: %+v", all[0])
	}
	if StateOf(all[1]) != Failed || all[1].Attempts < 20 || all[1].Attempts > 26 {
		t.Errorf("without one: %+v", all[1])
	}
}

func TestMailThatIsDeletedMeanwhileStaysDeleted(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	server := serveMail(t, startTLS)
	o := b.notifier(server.config(startTLS)).Outbox
	b.mail(o, Mail{Kind: Reset, To: "jdoe@example.com", User: b.owner.ID, Token: "t"})
	id := b.mails()[0].ID
	b.update(func(tx *store.Tx) error { return tx.DeleteUser(b.owner.ID) })
	b.update(func(tx *store.Tx) error { return o.settle(tx, id, 0, nil) })
	if left := b.mails(); len(left) != 0 {
		t.Errorf("left %+v", left)
	}
}

func TestRunSendsWhatIsQueuedAndEnds(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	server := serveMail(t, startTLS)
	n := b.notifier(server.config(startTLS))
	n.Outbox.look = 2 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	b.mail(n.Outbox, Mail{Kind: Invite, To: "a@example.com", Home: b.home})
	eventually(t, "sent", func() bool { return len(server.all()) == 1 })
	eventually(t, "stored", func() bool { return StateOf(b.mails()[0]) == Sent })
	cancel()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("run does not end")
	}
}

func TestMailOfADeletedAccountGoesWhenItIsSent(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.mail(b.notifier().Outbox, Mail{Kind: AccountDeleted, To: "gone@example.com"})
	if left := b.mails(); len(left) != 0 {
		t.Errorf("kept without a mail server: %+v", left)
	}
	server := serveMail(t, startTLS)
	o := b.notifier(server.config(startTLS)).Outbox
	b.mail(o, Mail{Kind: AccountDeleted, To: "gone@example.com"})
	b.send(o)
	if sent, left := server.all(), b.mails(); len(sent) != 1 || len(left) != 0 {
		t.Errorf("sent %d, left %+v", len(sent), left)
	}
}
