package mdns

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/api/lan"
)

// settled returns a network with a box that has its names and has been silent for a while.
func settled(t *testing.T) (*network, *member) {
	n := newNetwork(t)
	box := n.join("boxa", "192.168.1.20/24", "fd00::20/64")
	n.run(time.Minute)
	return n, box
}

const asker = "192.168.1.99:5353"

func TestBrowsingFindsServiceAddressAndText(t *testing.T) {
	t.Parallel()
	for _, service := range []string{ownService, webService} {
		n, _ := settled(t)
		answers := n.ask(asker, ask(service, dnsmessage.TypePTR))
		if len(answers) != 1 || answers[0].to.IsValid() || !answers[0].response || answers[0].id != 0 {
			t.Fatalf("%s: %d answers: %+v", service, len(answers), answers)
		}
		if delay := answers[0].at.Sub(n.now.Add(-time.Second)); delay < leastDelay || delay > mostDelay {
			t.Errorf("%s: answered after %s", service, delay)
		}
		instance := "sensegate." + service
		for _, want := range []record{
			{service, dnsmessage.TypePTR, false, 4500, wireName(instance)},
			{instance, dnsmessage.TypeSRV, true, 120, append([]byte{0, 0, 0, 0, 0x1f, 0x90}, wireName("sensegate.local.")...)},
			addressRecord("sensegate.local.", netip.MustParseAddr("192.168.1.20")),
			addressRecord("sensegate.local.", netip.MustParseAddr("fd00::20")),
		} {
			found := told(answers, want.kind)
			if len(found) != 1 || !found[0].same(want) || found[0].flush != want.flush || found[0].ttl != want.ttl {
				t.Errorf("%s: told %+v, want %+v", service, found, want)
			}
		}
		text := string(told(answers, dnsmessage.TypeTXT)[0].data)
		if !strings.HasPrefix(text, "\x09txtvers=1\x06path=/") || strings.Contains(text, "tls=8443") != (service == ownService) {
			t.Errorf("%s: text %q", service, text)
		}
	}
}

func TestAllServicesAreListed(t *testing.T) {
	t.Parallel()
	n, _ := settled(t)
	answers := told(n.ask(asker, ask(allServices, dnsmessage.TypePTR)), dnsmessage.TypePTR)
	if len(answers) != 2 || string(answers[0].data) != string(wireName(ownService)) || string(answers[1].data) != string(wireName(webService)) {
		t.Errorf("told %v", answers)
	}
}

func TestMissingTypesAreDenied(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.join("boxa", "192.168.1.20/24")
	n.run(time.Minute)
	denied := told(n.ask(asker, ask("boxa.local.", dnsmessage.TypeAAAA)), typeNSEC)
	want := append(wireName("boxa.local."), 0, 1, 0x40) // only A, which is 1
	if len(denied) != 1 || string(denied[0].data) != string(want) || !denied[0].flush {
		t.Errorf("told %v, want %v", denied, want)
	}
	if answers := n.ask(asker, ask("else.local.", dnsmessage.TypeA)); len(answers) != 0 {
		t.Errorf("for a name of nobody: %v", answers)
	}
}

func TestKnownAnswersAreNotRepeated(t *testing.T) {
	t.Parallel()
	n, _ := settled(t)
	known := record{ownService, dnsmessage.TypePTR, false, otherTTL, wireName("sensegate." + ownService)}
	for name, c := range map[string]struct {
		ttl  uint32
		want int
	}{"fresh": {otherTTL / 2, 0}, "half over": {otherTTL/2 - 1, 1}} {
		known.ttl = c.ttl
		before := len(n.heard)
		n.say(asker, message{questions: []question{ask(ownService, dnsmessage.TypePTR)}, answers: []record{known}})
		if got := n.since(before); len(got) != c.want {
			t.Errorf("%s: %d answers, want %d", name, len(got), c.want)
		}
	}
	known.ttl = otherTTL // the list comes in a second message
	before := len(n.heard)
	n.say(asker, message{truncated: true, questions: []question{ask(ownService, dnsmessage.TypePTR)}})
	n.run(100 * time.Millisecond)
	n.say(asker, message{answers: []record{known}})
	if got := n.since(before); len(got) != 0 {
		t.Errorf("answered though a second message tells the answer: %v", got)
	}
	before = len(n.heard)
	n.say(asker, message{truncated: true, questions: []question{ask(ownService, dnsmessage.TypePTR)}})
	n.run(leastToCome - time.Millisecond)
	if sent := len(n.heard) - before; sent != 1 { // the question itself
		t.Error("answered before more known answers could come")
	}
	if got := n.since(before); len(got) != 1 {
		t.Errorf("%d answers to a question whose known answers never come", len(got))
	}
}

// An ordinary DNS resolver asks from a port of its own.
func TestAskerOutsideMulticastGetsUnicast(t *testing.T) {
	t.Parallel()
	n, _ := settled(t)
	before := len(n.heard)
	q := ask("sensegate.local.", dnsmessage.TypeA)
	n.say("192.168.1.99:40000", message{id: 4711, questions: []question{q}})
	got := n.since(before)
	if len(got) != 1 || got[0].to != netip.MustParseAddrPort("192.168.1.99:40000") || got[0].id != 4711 || !slices.Equal(got[0].questions, []question{q}) {
		t.Fatalf("answered %+v", got)
	}
	if r := got[0].answers; len(r) != 1 || r[0].flush || r[0].ttl != legacyTTL {
		t.Errorf("answered %+v", r)
	}
}

func TestUnicastIsGivenWhereMulticastWasRecent(t *testing.T) {
	t.Parallel()
	n, _ := settled(t)
	q := question{"sensegate.local.", dnsmessage.TypeA, true}
	if got := n.ask(asker, q); len(got) != 1 || got[0].to.IsValid() {
		t.Errorf("a minute after the last multicast: %+v", got)
	}
	if got := n.ask(asker, q); len(got) != 1 || got[0].to.String() != asker || len(got[0].questions) != 0 {
		t.Errorf("right after a multicast: %+v", got)
	}
}

func TestOnlyTheLinkIsHeard(t *testing.T) {
	t.Parallel()
	n, box := settled(t)
	for _, from := range []string{"192.168.2.99:5353", "8.8.8.8:5353", "8.8.8.8:40000", "[2001:db8::1]:5353"} {
		if got := n.ask(from, ask("sensegate.local.", dnsmessage.TypeA)); len(got) != 0 {
			t.Errorf("%s is answered: %v", from, got)
		}
	}
	rival := message{response: true, answers: []record{addressRecord("sensegate.local.", netip.MustParseAddr("192.168.1.66"))}}
	before := len(n.heard)
	n.say("192.168.2.66:5353", rival)  // from another network
	n.say("192.168.1.66:12345", rival) // from a port that anybody may have
	if got := n.since(before); len(got) != 0 {
		t.Errorf("a false conflict has it send %v", got)
	}
	n.wantNames(box, "sensegate.local", "boxa.local")
}

// Whatever somebody sends, the box sends no more than a little.
func TestFloodIsNotAmplified(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]string{"multicast": asker, "unicast": "192.168.1.99:40000"} {
		n, _ := settled(t)
		before := len(n.heard)
		for range 1000 {
			n.say(from, message{questions: []question{ask("sensegate.local.", dnsmessage.TypeALL), ask(ownService, dnsmessage.TypePTR)}})
			n.run(2 * time.Millisecond)
		}
		answers, most := n.since(before), unicastBurst+3*unicastRate
		if name == "multicast" {
			most = 6 // records go out once a second
		}
		if len(answers) == 0 || len(answers) > most {
			t.Errorf("%s: 1000 questions within 2 s have %d answers, at most %d are right", name, len(answers), most)
		}
	}
}

func TestGoodbyeTakesEverythingBack(t *testing.T) {
	t.Parallel()
	n, box := settled(t)
	before := len(n.heard)
	box.goodbye()
	gone := map[string]bool{}
	for _, r := range n.heard[before].answers {
		if r.ttl != 0 || r.flush {
			t.Errorf("goodbye says %+v", r)
		}
		gone[r.kind.String()+" "+r.name] = true
	}
	for _, want := range []string{"TypeA sensegate.local.", "TypeAAAA sensegate.local.", "TypeA boxa.local.", "TypeSRV sensegate." + ownService, "TypePTR " + ownService, "TypePTR " + webService} {
		if !gone[want] {
			t.Errorf("goodbye lacks %s", want)
		}
	}
	if gone["TypePTR "+allServices] {
		t.Error("goodbye takes back which services others have")
	}
}

func TestChangedAddressIsAnnounced(t *testing.T) {
	t.Parallel()
	n, box := settled(t)
	before := len(n.heard)
	box.setLinks(n.now, []lan.Link{linkAt(1, "192.168.1.21/24", "fd00::20/64")})
	box.next = n.now
	n.run(settleTime)
	goodbye, announced := n.heard[before], n.heard[before+1:]
	if len(goodbye.answers) != 2 || goodbye.answers[0].ttl != 0 || !slices.Equal(goodbye.answers[0].data, []byte{192, 168, 1, 20}) {
		t.Errorf("of the former address it says %+v", goodbye.answers)
	}
	if len(announced) != announcements || !contains(announced[0].answers, addressRecord("sensegate.local.", netip.MustParseAddr("192.168.1.21"))) {
		t.Errorf("announced %+v", announced)
	}
	n.wantNames(box, "sensegate.local", "boxa.local")
}

func TestLinkThatComesLaterIsProbedAndAnnounced(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	box := n.join("boxa", "192.168.1.20/24")
	box.setLinks(n.now, nil)
	n.run(settleTime)
	if s := stateOf(box.core); len(n.heard) != 0 || !strings.HasPrefix(s.Why, "no interface leads to a private network") {
		t.Errorf("without a link it sends %d messages and says %q", len(n.heard), s.Why)
	}
	box.setLinks(n.now, []lan.Link{linkAt(1, "192.168.1.20/24")})
	if s := stateOf(box.core); s.Why != "it asks whether somebody else has the names" {
		t.Errorf("while it probes it says %q", s.Why)
	}
	box.next = n.now
	n.run(settleTime)
	n.wantNames(box, "sensegate.local", "boxa.local")
	if s := stateOf(box.core); !slices.Equal(s.Interfaces, []string{"eth0"}) || s.Why != "" {
		t.Errorf("state %+v", s)
	}
}

func TestHostNamesThatCannotBeAnnounced(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{"boxa": 2, "BoxA.example.com": 2, "sensegate": 1, "localhost": 1, "": 1, "my_box": 1, "höme": 1} {
		if got := claimsOf(host); len(got) != want || got[0].host() != "sensegate.local." {
			t.Errorf("%q: %d names", host, len(got))
		}
	}
}

func TestServedAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bound, address string
		want           bool
	}{
		{"::", "192.168.1.20", true}, {"::", "fd00::20", true}, {"0.0.0.0", "192.168.1.20", true}, {"0.0.0.0", "fd00::20", false},
		{"192.168.1.20", "192.168.1.20", true}, {"192.168.1.20", "10.0.0.5", false}, {"::ffff:10.0.0.5", "10.0.0.5", true},
	} {
		o := Options{Bound: netip.MustParseAddr(c.bound)}
		if got := o.serves(netip.MustParseAddr(c.address)); got != c.want {
			t.Errorf("a server of %s is reached at %s: %t", c.bound, c.address, got)
		}
	}
}
