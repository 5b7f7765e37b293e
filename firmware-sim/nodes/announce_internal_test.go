package nodes

import (
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/motion"
)

func TestNodeIsFoundByWhoAsksForIt(t *testing.T) {
	t.Parallel()
	node, err := NewESPectre(ESPectreConfig{Listen: "127.0.0.1:0", MAC: motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}, Name: "Kitchen node"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.listener.Close() })
	a := node.announcement(netip.MustParseAddr("192.168.7.9"))
	for _, test := range []struct {
		name   string
		legacy bool
		reply  bool
	}{
		{"_espectre._tcp.local.", false, true}, {"_espectre._tcp.local.", true, true}, {"_ESPectre._TCP.local.", false, true},
		{"Kitchen node._espectre._tcp.local.", false, true}, {"espectre-3cf79180d3a0aca4.local.", false, true}, {"_http._tcp.local.", false, false},
	} {
		query := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{
			{Name: dnsmessage.MustNewName(test.name), Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET},
		}}
		packed, err := query.Pack()
		if err != nil {
			t.Fatal(err)
		}
		reply := a.reply(packed, test.legacy)
		if (reply != nil) != test.reply {
			t.Errorf("%s is answered: %v", test.name, reply != nil)
		}
		if reply == nil {
			continue
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil {
			t.Fatal(err)
		}
		if (len(m.Questions) == 1) != test.legacy || (m.ID == 7) != test.legacy || !m.Response || len(m.Answers) != 4 {
			t.Fatalf("%s: %+v", test.name, m)
		}
		text := m.Answers[2].Body.(*dnsmessage.TXTResource).TXT
		if m.Answers[0].Body.(*dnsmessage.PTRResource).PTR.String() != "Kitchen node._espectre._tcp.local." || m.Answers[1].Body.(*dnsmessage.SRVResource).Port != a.port ||
			m.Answers[3].Body.(*dnsmessage.AResource).A != [4]byte{192, 168, 7, 9} || !slices.Contains(text, "device_id=3cf79180d3a0aca4") || !slices.Contains(text, "path=/espectre/v1") {
			t.Errorf("%s: %+v", test.name, m.Answers)
		}
		if again := a.reply(reply, false); again != nil {
			t.Error("an answer is answered")
		}
	}
}
