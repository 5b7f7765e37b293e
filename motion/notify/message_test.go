package notify

import (
	"bytes"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	gomail "github.com/wneessen/go-mail"
	"pgregory.net/rapid"

	"sensegate/store"
)

// reference returns a mail as another library writes it.
func reference(t *rapid.T, from, to *mail.Address, m store.Mail, now time.Time) []byte {
	other := gomail.NewMsg()
	if err := other.From(mailbox(from)); err != nil {
		t.Fatal(err)
	}
	if err := other.To(mailbox(to)); err != nil {
		t.Fatal(err)
	}
	other.Subject(m.Subject)
	other.SetDateWithValue(now)
	other.SetMessageID()
	other.SetGenHeader("Auto-Submitted", "auto-generated")
	other.SetBodyString(gomail.TypeTextPlain, Text(m))
	var out bytes.Buffer
	if _, err := other.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns what a reader shows of a message.
func read(t *rapid.T, raw []byte) (header mail.Header, body string) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	plain, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	message.Header["Subject"] = []string{subject}
	return message.Header, strings.ReplaceAll(string(plain), "\r\n", "\n")
}

// TestMessageIsThatOfTheReference reads any mail as the other library's is read. It has the
// same fields, but for those that name the program.
func TestMessageIsThatOfTheReference(t *testing.T) {
	t.Parallel()
	line := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune(" =?_.-äж家\t")), rapid.Rune(), rapid.RuneFrom([]rune("abc XYZ 019"))), 0, 300, -1)
	rapid.Check(t, func(t *rapid.T) {
		clean := func(text string) string {
			return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }), "")
		}
		m := store.Mail{
			Subject: strings.TrimSpace(clean(line.Draw(t, "subject"))), Link: rapid.SampledFrom([]string{"", "http://box/confirm#token=a&b=c"}).Draw(t, "link"),
			Text: strings.Join(rapid.SliceOfN(rapid.Map(line, clean), 1, 4).Draw(t, "text"), "\n"),
		}
		from := &mail.Address{Name: strings.TrimSpace(clean(line.Draw(t, "name"))), Address: "home@example.com"}
		to := &mail.Address{Address: rapid.SampledFrom([]string{"a@example.com", "a.b+c@example.com", "a b@example.com"}).Draw(t, "to")}
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0)
		raw := message(from, to, m, now)
		got, body := read(t, raw)
		want, wantBody := read(t, reference(t, from, to, m, now))
		for _, name := range []string{"Date", "To", "Subject", "Auto-Submitted", "Content-Type", "Content-Transfer-Encoding"} {
			if got.Get(name) != want.Get(name) {
				t.Errorf("%s: %q, want %q", name, got.Get(name), want.Get(name))
			}
		}
		if (got.Get("Mime-Version") == "") || (got.Get("Message-Id") == "") || body != wantBody || body != Text(m) {
			t.Errorf("%v\n%q, want %q", got, body, wantBody)
		}
		for name := range want {
			if _, ok := got[name]; !ok && name != "User-Agent" && name != "X-Mailer" {
				t.Errorf("no %s", name)
			}
		}
		if sender, err := mail.ParseAddress(got.Get("From")); err != nil || *sender != *from {
			t.Errorf("from %v, %v; want %v", sender, err, from)
		}
		wantOnTheWire(t, raw)
	})
}

// wantOnTheWire checks what RFC 5322 2.1 and 2.1.1 want of characters and lines.
func wantOnTheWire(t *rapid.T, raw []byte) {
	if slices.ContainsFunc(raw, func(c byte) bool { return c > '~' || c < ' ' && c != '\r' && c != '\n' && c != '\t' }) {
		t.Errorf("other characters than ASCII: %q", raw)
	}
	header, _, _ := strings.Cut(string(raw), "\r\n\r\n")
	for text := range strings.SplitSeq(string(raw), "\r\n") {
		if strings.ContainsAny(text, "\r\n") || len(text) > 998 || len(text) > 76 && !strings.Contains(header, text) {
			t.Errorf("line %q", text)
		}
	}
}

func TestMessageIDsDifferAndNameTheSendersDomain(t *testing.T) {
	t.Parallel()
	from := &mail.Address{Address: `a@b@example.com`}
	seen := map[string]bool{}
	for range 100 {
		parsed, err := mail.ReadMessage(bytes.NewReader(message(from, from, store.Mail{}, time.Now())))
		if err != nil {
			t.Fatal(err)
		}
		id := parsed.Header.Get("Message-Id")
		if seen[id] || !strings.HasSuffix(id, "@example.com>") || strings.Count(id, "@") != 1 {
			t.Errorf("%q", id)
		}
		seen[id] = true
	}
}

// An address must not end the one in the command early, nor begin a header line.
func TestAddressesStayAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"jdoe@example.com":                        "jdoe@example.com",
		`"a> ORCPT=admin@evil.test"@example.com`:  `"a> ORCPT=admin@evil.test"@example.com`,
		`Home <"a\" <b>"@example.com>`:            `"a\" <b>"@example.com`,
		`"Home, sweet <home>" <home@example.com>`: "home@example.com",
	} {
		a, err := mail.ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := envelope(a); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	m := store.Mail{Subject: "a\r\nBcc: all@example.com\r\n\r\nbody", Text: "text"}
	parsed, err := mail.ReadMessage(bytes.NewReader(message(&mail.Address{Address: "a@example.com"}, &mail.Address{Address: "b@example.com"}, m, time.Now())))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(parsed.Body); parsed.Header.Get("Bcc") != "" || string(body) != "text\r\n" {
		t.Errorf("%v %q", parsed.Header, body)
	}
}

// TestNameWithABackslashIsAName that every reader of the mail takes, also beside letters beyond ASCII.
func TestNameWithABackslashIsAName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`\¦`, `a\b`, `Zuhause \ Büro`} {
		from := mail.Address{Name: name, Address: "home@example.com"}
		parsed, err := mail.ReadMessage(bytes.NewReader(message(&from, &from, store.Mail{}, time.Now())))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := mail.ParseAddress(parsed.Header.Get("From")); err != nil || *got != from {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
