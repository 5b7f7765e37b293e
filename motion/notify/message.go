package notify

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"sensegate/store"
)

// message returns a mail as the server gets it (RFC 5322): plain text, of ASCII characters
// alone but for an address that has others. Lines end in CRLF.
func message(from, to *mail.Address, m store.Mail, now time.Time) []byte {
	var out bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&out, "%s: %s\r\n", name, value) }
	domain := from.Address[strings.LastIndex(from.Address, "@")+1:]
	header("Date", now.Format(time.RFC1123Z))
	header("Message-ID", "<"+rand.Text()+"@"+domain+">")
	header("From", mailbox(from))
	header("To", mailbox(to))
	header("Subject", strings.ReplaceAll(mime.QEncoding.Encode("utf-8", m.Subject), "?= =?", "?=\r\n =?"))
	header("Auto-Submitted", "auto-generated") // RFC 3834: prevents automatic replies
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=UTF-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	out.WriteString("\r\n")
	body := quotedprintable.NewWriter(&out)
	_, _ = body.Write([]byte(Text(m))) // writing to memory does not fail
	_ = body.Close()
	return out.Bytes()
}

// mailbox returns an address with its name for a header (RFC 5322 3.4). net/mail writes a backslash in a
// name that has other characters than ASCII as it is, which its own parser does not take (RFC 2047 5).
func mailbox(a *mail.Address) string {
	if !strings.Contains(a.Name, `\`) || strings.IndexFunc(a.Name, func(r rune) bool { return r > '~' }) < 0 {
		return a.String()
	}
	bare := mail.Address{Address: a.Address}
	return mime.BEncoding.Encode("utf-8", a.Name) + " " + bare.String()
}

// Text returns the complete text of a mail, including its link.
func Text(m store.Mail) string {
	if m.Link == "" {
		return m.Text + "\n"
	}
	return m.Text + "\n\n" + m.Link + "\n"
}
