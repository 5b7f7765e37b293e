package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/wneessen/go-mail"

	"sensegate/motion/hook"
	"sensegate/store"
)

// smtpLimit is the time limit of one try to send a mail.
const smtpLimit = 20 * time.Second

// smtp hands mails to a mail server (RFC 5321), one connection each.
type smtp struct {
	config   SMTPConfig
	password string
	tls      *tls.Config
}

// newSMTP returns the server of a valid configuration.
func newSMTP(c SMTPConfig) (*smtp, error) {
	config, err := c.roots()
	if err != nil {
		return nil, fmt.Errorf("smtp.ca: %w", err)
	}
	password, err := secret(c.Password, c.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("smtp.password: %w", err)
	}
	return &smtp{config: c, password: password, tls: config}, nil
}

// send makes one try. A permanent rejection (a reply of 5xx to the mail itself) is Refused. All
// other failures can be tried again: a server that is unreachable or asks for it (4xx), and a
// failed log-in, which a change of the settings can fix.
func (s *smtp) send(ctx context.Context, m store.Mail) (hook.Verdict, error) {
	message, err := s.message(m)
	if err != nil {
		return hook.Refused, err
	}
	client, err := s.client()
	if err != nil {
		return hook.TryAgain, err
	}
	ctx, cancel := context.WithTimeout(ctx, smtpLimit)
	defer cancel()
	err = client.DialAndSendWithContext(ctx, message)
	var failed *mail.SendError
	switch {
	case err == nil:
		return hook.Accepted, nil
	case !errors.As(err, &failed):
		return hook.TryAgain, err
	case failed.ErrorCode()/100 == 5, failed.Reason == mail.ErrGetSender, failed.Reason == mail.ErrGetRcpts:
		return hook.Refused, err
	}
	return hook.TryAgain, err
}

// client returns a client for one try.
func (s *smtp) client() (*mail.Client, error) {
	options := []mail.Option{mail.WithPort(s.config.Port), mail.WithTimeout(smtpLimit), mail.WithTLSConfig(s.tls), mail.WithoutNoop()}
	switch s.config.TLS {
	case implicitTLS:
		options = append(options, mail.WithSSL())
	case startTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	default:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if s.config.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.config.Username), mail.WithPassword(s.password))
	}
	return mail.NewClient(s.config.Host, options...)
}

// message returns the mail as an SMTP message.
func (s *smtp) message(m store.Mail) (*mail.Msg, error) {
	message := mail.NewMsg()
	if err := message.From(s.config.From); err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	if err := message.To(m.Address); err != nil {
		return nil, fmt.Errorf("receiver: %w", err)
	}
	message.Subject(m.Subject)
	message.SetDate()
	message.SetMessageID()
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: prevents automatic replies
	message.SetBodyString(mail.TypeTextPlain, Text(m))
	return message, nil
}

// Text returns the complete text of a mail, including its link.
func Text(m store.Mail) string {
	if m.Link == "" {
		return m.Text + "\n"
	}
	return m.Text + "\n\n" + m.Link + "\n"
}
