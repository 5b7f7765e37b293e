package broker

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"sensegate/motion"
)

// Recorded on a 64-bit little-endian machine: the data of RTM_NEWNEIGH messages.
const (
	reachable4  = "02000000 07000000 0200 00 01  0800 0100 c0a80a0d  0a00 0200 02aa00000110 0000"
	reachable6  = "0a000000 07000000 0400 00 01  1400 0100 fe800000000000000000000000000001  0a00 0200 02aa00000110 0000"
	incomplete4 = "02000000 07000000 0100 00 01  0800 0100 c0a80a0d"
	failed4     = "02000000 07000000 2000 00 01  0800 0100 c0a80a0d  0a00 0200 02aa00000110 0000"
	noMAC       = "02000000 07000000 0200 00 01  0800 0100 c0a80a0d  0800 0200 7f000001"
	cutShort    = "02000000 07000000 0200 00 01  0800 0100 c0a80a0d  ff00 0200 02aa"
)

func recorded(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNeighbourMessageIsRead(t *testing.T) {
	t.Parallel()
	mac := motion.MAC{2, 0xaa, 0, 0, 1, 0x10}
	for name, c := range map[string]struct {
		text string
		want neighbour
		ok   bool
	}{
		"IPv4":              {reachable4, neighbour{netip.MustParseAddr("192.168.10.13"), 7, mac}, true},
		"IPv6":              {reachable6, neighbour{netip.MustParseAddr("fe80::1"), 7, mac}, true},
		"incomplete":        {text: incomplete4},
		"failed":            {text: failed4},
		"no Ethernet":       {text: noMAC},
		"cut short":         {text: cutShort},
		"not even a header": {text: "0200"},
	} {
		if got, ok := parseNeighbour(recorded(t, c.text)); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, ok, c.want, c.ok)
		}
	}
}

func FuzzNeighbourMessage(f *testing.F) {
	for _, text := range []string{reachable4, reachable6, incomplete4, cutShort} {
		data, _ := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, ok := parseNeighbour(data); ok && (n.mac.IsZero() || !n.address.IsValid()) {
			t.Errorf("%x is read as %+v", data, n)
		}
	})
}

func TestMACOfAnAddressIsTheOneOnItsLink(t *testing.T) {
	t.Parallel()
	near, far := netip.MustParseAddr("fe80::1"), netip.MustParseAddr("192.168.10.13")
	first, second := motion.MAC{2, 1}, motion.MAC{2, 2}
	table := []neighbour{{near, 3, first}, {near, 4, second}, {far, 3, first}, {far, 5, first}}
	for name, c := range map[string]struct {
		address netip.Addr
		link    int
		want    motion.MAC
	}{
		"on its link":                {near, 4, second},
		"ambiguous without a link":   {near, 0, motion.MAC{}},
		"the same on two links":      {far, 0, first},
		"not on that link":           {far, 4, motion.MAC{}},
		"of an address not in there": {netip.MustParseAddr("192.168.10.14"), 0, motion.MAC{}},
	} {
		if got := macOf(table, c.address, c.link); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
