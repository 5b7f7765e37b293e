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

const settleTime = 5 * time.Second

func TestFreeNamesAreTakenAfterThreeProbes(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	box := n.join("Boxa.example.com", "192.168.1.20/24", "fd00::20/64", "fe80::20/64")
	n.wantNames(box)
	n.run(settleTime)
	n.wantNames(box, "sensegate.local", "boxa.local")
	var kinds []string
	for _, m := range n.heard {
		if m.response {
			kinds = append(kinds, "announcement")
			continue
		}
		kinds = append(kinds, "probe")
		for _, q := range m.questions {
			if q.kind != dnsmessage.TypeALL || q.unicast {
				t.Errorf("a probe asks %+v", q)
			}
		}
	}
	// Each of the two claims begins by itself.
	if want := strings.Fields("probe probe probe probe probe probe announcement announcement announcement announcement"); !slices.Equal(sorted(kinds), sorted(want)) {
		t.Errorf("sent: %v", kinds)
	}
	addresses := told(n.heard, dnsmessage.TypeAAAA)
	for _, r := range addresses {
		if a, _ := r.addressOf(); a != netip.MustParseAddr("fd00::20") || !r.flush {
			t.Errorf("announced %+v", r)
		}
	}
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}

func TestSecondBoxTakesTheNextName(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	first := n.join("boxa", "192.168.1.20/24")
	n.run(settleTime)
	second := n.join("boxb", "192.168.1.10/24")
	third := n.join("boxc", "192.168.1.30/24")
	n.run(2 * settleTime)
	n.wantNames(first, "sensegate.local", "boxa.local")
	numbers := append(n.names(second)[:1], n.names(third)[:1]...)
	if !slices.Equal(sorted(numbers), []string{"sensegate-2.local", "sensegate-3.local"}) {
		t.Errorf("second and third are %q and %q", n.names(second), n.names(third))
	}
	if found := told(n.ask("192.168.1.99:5353", ask(ownService, dnsmessage.TypePTR)), dnsmessage.TypeSRV); len(found) != 3 {
		t.Errorf("browsing finds %d boxes: %v", len(found), found)
	}
}

// After a power cut all boxes begin at once.
func TestBoxesThatBeginTogetherAgree(t *testing.T) {
	t.Parallel()
	for range 20 {
		n := newNetwork(t)
		n.seed = uint64(len(n.heard)) + n.seed*31
		a, b := n.join("boxa", "192.168.1.20/24"), n.join("boxb", "192.168.1.10/24")
		n.run(3 * settleTime)
		names := []string{n.names(a)[0], n.names(b)[0]}
		if !slices.Equal(sorted(names), []string{"sensegate-2.local", "sensegate.local"}) {
			t.Fatalf("they are %q and %q", n.names(a), n.names(b))
		}
	}
}

// Both boxes probe within the same 250 ms: the record that comes later in order decides.
func TestGreaterAddressWinsATie(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	low, high := n.join("boxa", "192.168.1.10/24"), n.join("boxb", "192.168.1.20/24")
	for _, box := range n.boxes {
		box.random = func(time.Duration) time.Duration { return 0 }
		for _, cl := range box.claims {
			box.restart(n.now, cl, 0)
		}
	}
	n.run(settleTime)
	n.wantNames(high, "sensegate.local", "boxb.local")
	n.wantNames(low, "sensegate-2.local", "boxa.local")
}

func TestTakenHostNameIsLeftToItsHolder(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	holder := n.join("printer", "192.168.1.5/24")
	n.run(settleTime)
	box := n.join("printer", "192.168.1.20/24")
	n.run(settleTime)
	n.wantNames(holder, "sensegate.local", "printer.local")
	n.wantNames(box, "sensegate-2.local")
	for _, r := range told(n.ask("192.168.1.99:5353", ask("printer.local.", dnsmessage.TypeA)), dnsmessage.TypeA) {
		if a, _ := r.addressOf(); a != netip.MustParseAddr("192.168.1.5") {
			t.Errorf("printer.local is said to be at %s", a)
		}
	}
	holder.goodbye()
	holder.off = true
	n.run(restTime + settleTime)
	n.wantNames(box, "sensegate-2.local", "printer.local") // tried again after a while
}

// avahi on the same machine tells <host name>.local and its addresses.
func TestNameOfAnotherProgramOfTheMachineIsLent(t *testing.T) {
	t.Parallel()
	avahi := []record{addressRecord("boxa.local.", netip.MustParseAddr("192.168.1.20"))}
	for name, begin := range map[string]func(*network){
		"it answers the probe": func(n *network) { n.say("192.168.1.20:5353", message{response: true, answers: avahi}) },
		"it starts later": func(n *network) {
			n.run(settleTime)
			n.say("192.168.1.20:5353", message{questions: []question{ask("boxa.local.", dnsmessage.TypeALL)}, authority: withoutFlush(slices.Clone(avahi))})
		},
	} {
		n := newNetwork(t)
		box := n.join("boxa", "192.168.1.20/24")
		n.run(300 * time.Millisecond)
		begin(n)
		before := len(n.heard)
		n.run(settleTime)
		n.wantNames(box, "sensegate.local", "boxa.local")
		if answers := n.ask("192.168.1.99:5353", ask("boxa.local.", dnsmessage.TypeA)); len(answers) != 0 {
			t.Errorf("%s: we answer too: %v", name, answers)
		}
		for _, r := range told(n.heard[before:], dnsmessage.TypeA) {
			if r.name == "boxa.local." {
				t.Errorf("%s: we announce the name too", name)
			}
		}
		n.run(restTime + settleTime) // it has gone
		if answers := n.ask("192.168.1.99:5353", ask("boxa.local.", dnsmessage.TypeA)); len(told(answers, dnsmessage.TypeA)) != 1 {
			t.Errorf("%s: nobody answers after it has gone: %v", name, answers)
		}
	}
}

// A router that repeats messages between networks must not look like a rival.
func TestRepeatedMessagesAreNoConflict(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	box := n.join("boxa", "192.168.1.20/24")
	other := linkAt(2, "10.0.0.5/24")
	other.Name = "wlan0"
	box.setLinks(n.now, []lan.Link{box.links[0].Link, other})
	for range 40 { // what it says on the first link comes back on the second, written anew
		before := len(n.heard)
		n.run(50 * time.Millisecond)
		for _, m := range n.heard[before:] {
			m.message.id = 7
			data, err := m.message.pack()
			if err != nil {
				t.Fatal(err)
			}
			box.receive(n.now, 2, netip.MustParseAddrPort("10.0.0.1:5353"), data)
		}
	}
	n.run(settleTime)
	n.wantNames(box, "sensegate.local", "boxa.local")
	if box.claims[1].lent {
		t.Error("the host name is left to the router")
	}
}

func TestLaterConflictMakesTheBoxGiveTheNameUp(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	box := n.join("boxa", "192.168.1.20/24")
	n.run(settleTime)
	rival := message{response: true, answers: []record{addressRecord("sensegate.local.", netip.MustParseAddr("192.168.1.66"))}}
	n.say("192.168.1.66:5353", rival)
	n.run(100 * time.Millisecond)
	n.wantNames(box, "sensegate.local", "boxa.local") // it asks first
	n.dispute("sensegate.local.", settleTime)
	n.wantNames(box, "sensegate-2.local", "boxa.local")
}

func TestRivalOfAllNamesEndsInRest(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	box := n.join("boxa", "192.168.1.20/24")
	n.dispute("", 40*time.Second)
	n.wantNames(box)
	if s := stateOf(box.core); s.Why != "others on the network have each name up to sensegate-9.local and boxa.local" {
		t.Errorf("why there is no name: %s", s.Why)
	}
	before := len(n.heard)
	n.run(restTime / 2)
	if len(n.heard) != before {
		t.Errorf("it sends %d messages while it rests", len(n.heard)-before)
	}
	n.run(restTime)
	n.wantNames(box, "sensegate.local", "boxa.local")
}

func TestManyConflictsSlowProbingDown(t *testing.T) {
	t.Parallel()
	cl := &claim{base: boxLabel, renamed: true, number: 1}
	now := time.Unix(1_800_000_000, 0)
	for i := range maxConflicts {
		if d := cl.delay(now.Add(time.Duration(i) * time.Millisecond)); d != 0 {
			t.Fatalf("conflict %d waits for %s", i, d)
		}
	}
	if d := cl.delay(now.Add(time.Second)); d != conflictRest {
		t.Errorf("one conflict more waits for %s", d)
	}
	if d := cl.delay(now.Add(time.Hour)); d != 0 {
		t.Errorf("a conflict an hour later waits for %s", d)
	}
}
