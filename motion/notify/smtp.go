package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"os"
	"strconv"
	"time"

	"sensegate/motion/hook"
	"sensegate/store"
)

// smtpLimit is the time limit of one try to send a mail.
const smtpLimit = 20 * time.Second

// submission hands mails to a mail server (RFC 5321, RFC 6409), one connection each.
type submission struct {
	config   SMTPConfig
	password string
	tls      *tls.Config
}

// newSubmission returns the server of a valid configuration.
func newSubmission(c SMTPConfig) (*submission, error) {
	config, err := c.roots()
	if err != nil {
		return nil, fmt.Errorf("smtp.ca: %w", err)
	}
	password, err := secret(c.Password, c.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("smtp.password: %w", err)
	}
	return &submission{config: c, password: password, tls: config}, nil
}

// send makes one try. A permanent rejection (a reply of 5xx to the mail itself) is Refused. All
// other failures can be tried again: a server that is unreachable or asks for it (4xx), and a
// failed log-in, which a change of the settings can fix.
func (s *submission) send(ctx context.Context, m store.Mail) (hook.Verdict, error) {
	from, err := mail.ParseAddress(s.config.From)
	if err != nil {
		return hook.Refused, fmt.Errorf("sender: %w", err)
	}
	to, err := mail.ParseAddress(m.Address)
	if err != nil {
		return hook.Refused, fmt.Errorf("receiver: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, smtpLimit)
	defer cancel()
	client, err := s.connect(ctx)
	if err != nil {
		return hook.TryAgain, err
	}
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	if err := s.logIn(client); err != nil {
		return hook.TryAgain, err
	}
	if err := deliver(client, from, to, message(from, to, m, time.Now())); err != nil {
		var reply *textproto.Error
		if errors.As(err, &reply) && reply.Code/100 == 5 {
			return hook.Refused, err
		}
		return hook.TryAgain, err
	}
	_ = client.Quit() // the server has the mail, whatever it says to this
	return hook.Accepted, nil
}

// connect returns a connection that is encrypted as configured. It ends with ctx.
func (s *submission) connect(ctx context.Context) (*smtp.Client, error) {
	address := net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port))
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = connection.SetDeadline(deadline) // fails when it is closed, which the next step says
	}
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	client, err := s.greet(connection)
	if err != nil {
		_ = connection.Close()
		return nil, err
	}
	return client, nil
}

// greet begins the dialogue on a new connection, and encrypts it.
func (s *submission) greet(connection net.Conn) (*smtp.Client, error) {
	if s.config.TLS == implicitTLS {
		connection = tls.Client(connection, s.tls)
	}
	client, err := smtp.NewClient(connection, s.config.Host)
	if err != nil {
		return nil, err
	}
	if name, err := os.Hostname(); err == nil {
		if err := client.Hello(name); err != nil {
			return nil, err
		}
	}
	if s.config.TLS != startTLS {
		return client, nil
	}
	return client, client.StartTLS(s.tls)
}

// logIn proves who sends, where a user is configured. Without encryption it does not.
func (s *submission) logIn(client *smtp.Client) error {
	if s.config.Username == "" {
		return nil
	}
	state, encrypted := client.TLSConnectionState()
	if !encrypted {
		return errors.New("the connection is not encrypted: no password is sent")
	}
	_, offered := client.Extension("AUTH")
	way, err := s.mechanism(offered, &state)
	if err != nil {
		return err
	}
	return client.Auth(way)
}

// deliver hands a message over.
func deliver(client *smtp.Client, from, to *mail.Address, message []byte) error {
	if err := client.Mail(envelope(from)); err != nil {
		return err
	}
	if err := client.Rcpt(envelope(to)); err != nil {
		return err
	}
	data, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := data.Write(message); err != nil {
		return err
	}
	return data.Close()
}

// envelope returns an address as it stands between < and > in a command: with quotes where
// its local part needs them, which keeps it from ending the address early.
func envelope(a *mail.Address) string {
	bare := (&mail.Address{Address: a.Address}).String()
	return bare[1 : len(bare)-1]
}
