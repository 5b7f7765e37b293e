package mdns

import (
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// offered returns an answer that tells of one instance of a service, with what is to be reached there.
func offered(t testing.TB, response bool, target string, port uint16, addresses ...[4]byte) []byte {
	t.Helper()
	header := func(name string, kind dnsmessage.Type) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET, TTL: 120}
	}
	m := dnsmessage.Message{
		Header:  dnsmessage.Header{Response: response, Authoritative: true},
		Answers: []dnsmessage.Resource{{Header: header("_espectre._tcp.local.", dnsmessage.TypePTR), Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName("Hall._espectre._tcp.local.")}}},
		Additionals: []dnsmessage.Resource{
			{Header: header("hall._ESPECTRE._tcp.local.", dnsmessage.TypeSRV), Body: &dnsmessage.SRVResource{Target: dnsmessage.MustNewName(target), Port: port}},
			{Header: header("hall._espectre._tcp.local.", dnsmessage.TypeTXT), Body: &dnsmessage.TXTResource{TXT: []string{"txtvers=1"}}},
		},
	}
	for _, a := range addresses {
		m.Additionals = append(m.Additionals, dnsmessage.Resource{Header: header("espectre-1.local.", dnsmessage.TypeA), Body: &dnsmessage.AResource{A: a}})
	}
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestInstancesOfAnAnswer(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddrPort("192.168.7.9:62587")
	a := at.Addr().As4()
	for name, c := range map[string]struct {
		answer []byte
		want   []netip.AddrPort
	}{
		"one":               {offered(t, true, "espectre-1.local.", 62587, a), []netip.AddrPort{at}},
		"without a port":    {offered(t, true, "espectre-1.local.", 0, a), nil},
		"of another server": {offered(t, true, "espectre-2.local.", 62587, a), nil},
		"without address":   {offered(t, true, "espectre-1.local.", 62587), nil},
		"a question":        {offered(t, false, "espectre-1.local.", 62587, a), nil},
		"no message":        {[]byte("x"), nil},
	} {
		if got := instances(c.answer, "_espectre._tcp.local."); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := instances(offered(t, true, "espectre-1.local.", 62587, a), "_other._tcp.local."); got != nil {
		t.Errorf("of another service: %v", got)
	}
}

func FuzzInstances(f *testing.F) {
	f.Add(offered(f, true, "espectre-1.local.", 62587, [4]byte{192, 168, 7, 9}))
	f.Fuzz(func(t *testing.T, answer []byte) {
		found := instances(answer, "_espectre._tcp.local.")
		for _, at := range found {
			if at.Port() == 0 || !at.Addr().Is4() {
				t.Errorf("%v", at)
			}
		}
		if len(found) > maxInstances {
			t.Errorf("%d instances", len(found))
		}
	})
}
