package mdns

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// fromPrinter is a message of another program: compressed names, in a PTR too, a label with a
// dot, a record of class CH.
var fromPrinter = []byte("\x00\x00\x84\x00\x00\x00\x00\x04\x00\x00\x00\x00" +
	"\x05_http\x04_tcp\x05local\x00\x00\x0c\x00\x01\x00\x00\x11\x94\x00\x0a\x07printer\xc0\x0c" +
	"\x04v1.2\xc0\x0c\x00\x10\x80\x01\x00\x00\x11\x94\x00\x01\x00" +
	"\x07Printer\xc0\x17\x00\x01\x80\x01\x00\x00\x00\x78\x00\x04\xc0\xa8\x01\x05" +
	"\x07printer\xc0\x17\x00\x10\x00\x03\x00\x00\x00\x78\x00\x01\x00")

func TestMessagesOfOthersAreRead(t *testing.T) {
	t.Parallel()
	m, err := parse(fromPrinter)
	if err != nil {
		t.Fatal(err)
	}
	want := []record{
		{webService, dnsmessage.TypePTR, false, 4500, wireName("printer." + webService)},
		addressRecord("printer.local.", netip.MustParseAddr("192.168.1.5")),
	}
	if !m.response || len(m.answers) != len(want) {
		t.Fatalf("read %+v", m)
	}
	for i, r := range m.answers {
		if !r.same(want[i]) || r.flush != want[i].flush || r.ttl != want[i].ttl {
			t.Errorf("record %d is %+v, want %+v", i, r, want[i])
		}
	}
}

func TestWhatIsNoMulticastDNSIsLeftOut(t *testing.T) {
	t.Parallel()
	answer := bytes.Clone(fromPrinter)
	answer[3] = 3 // no such name
	update := bytes.Clone(fromPrinter)
	update[2] |= 5 << 3
	for name, data := range map[string][]byte{"error": answer, "update": update, "cut off": fromPrinter[:40], "empty": nil, "short": {1, 2, 3}} {
		if m, err := parse(data); err == nil {
			t.Errorf("%s is read as %+v", name, m)
		}
	}
	many := message{questions: slices.Repeat([]question{ask("a.local.", dnsmessage.TypeA)}, maxRecords+1)}
	if data, err := many.pack(); err != nil {
		t.Error(err)
	} else if _, err := parse(data); err == nil {
		t.Error("any number of questions is read")
	}
}

// FuzzReceive gives a box messages of strangers. It may send what it likes of its own, but what
// it sends can be read, is no larger than an Ethernet frame holds, and is not much.
func FuzzReceive(f *testing.F) {
	f.Add(fromPrinter, false)
	f.Add([]byte("\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x09sensegate\x05local\x00\x00\xff\x80\x01"), true)
	rival, err := message{response: true, answers: []record{addressRecord("sensegate.local.", netip.MustParseAddr("192.168.1.66"))}}.pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(rival, false)
	f.Fuzz(func(t *testing.T, data []byte, legacy bool) {
		n := newNetwork(t)
		box := n.join("boxa", "192.168.1.20/24", "fd00::20/64")
		n.run(settleTime)
		from := netip.MustParseAddrPort(asker)
		if legacy {
			from = netip.AddrPortFrom(from.Addr(), 40000)
		}
		before := len(n.heard)
		box.receive(n.now, 1, from, data)
		box.next = n.now
		for _, m := range n.since(before) {
			if len(m.data) > 1452 {
				t.Errorf("a message of %d bytes", len(m.data))
			}
		}
		n.run(settleTime)
		if sent := len(n.heard) - before; sent > 3+3+2*announcements {
			t.Errorf("one message makes it send %d", sent)
		}
		for _, name := range n.names(box) {
			if !strings.HasSuffix(name, ".local") {
				t.Errorf("it has the name %q", name)
			}
		}
		n.run(time.Minute)
		if got := n.ask(asker, ask("boxa.local.", dnsmessage.TypeA)); len(got) == 0 && slices.Contains(n.names(box), "boxa.local") {
			t.Error("it answers no more")
		}
	})
}
