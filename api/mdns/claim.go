package mdns

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/api/lan"
)

// How long others may keep records (RFC 6762 section 10).
const (
	hostTTL  = 120  // seconds, of what names a host
	otherTTL = 4500 // seconds
)

// The services of the box. Apps of ours look for the first; programs that list what is to be
// seen in the house look for the second, of which the app is one.
const (
	ownService  = "_sensegate._tcp.local."
	webService  = "_http._tcp.local."
	allServices = "_services._dns-sd._udp.local." // RFC 6763 section 9
)

const (
	boxLabel = "sensegate"
	// lastNumber is that of the last name that is tried, sensegate-9.
	lastNumber = 9
	// restTime is how long a claim that was lost is left alone.
	restTime = 10 * time.Minute
	// Of conflicts within conflictTime, those beyond maxConflicts make a claim wait for
	// conflictRest (RFC 6762 section 8.1).
	maxConflicts = 15
	conflictTime = 10 * time.Second
	conflictRest = 5 * time.Second
)

// claim is a host name that this box wants, or has, for itself, and what goes with it.
type claim struct {
	base    string // the label, without a number
	renamed bool   // it has further names to try, and the services
	number  int    // of the name that is tried, from 1

	held      bool // it was free when it was probed for, and has not been lost since
	lent      bool // until retry: another program of this machine answers for the host name
	lost      bool // until retry
	retry     time.Time
	conflicts []time.Time // the latest
	noted     string      // what was logged last
}

// isNews reports whether what is to be logged of a claim is not what was logged last: a name
// that somebody else keeps is asked for again and again.
func (c *claim) isNews(words ...string) bool {
	text := strings.Join(words, " ")
	if text == c.noted {
		return false
	}
	c.noted = text
	return true
}

// label returns the first label of the name.
func (c *claim) label() string {
	if c.number > 1 {
		return c.base + "-" + strconv.Itoa(c.number)
	}
	return c.base
}

func (c *claim) host() string { return c.label() + ".local." }

// instance returns the name under which the box offers a service.
func (c *claim) instance(service string) string { return c.label() + "." + service }

// services returns the services that go with the name.
func (c *claim) services() []string {
	if !c.renamed {
		return nil
	}
	return []string{ownService, webService}
}

// names returns the names that nobody else may have.
func (c *claim) names() []string {
	names := []string{c.host()}
	for _, service := range c.services() {
		names = append(names, c.instance(service))
	}
	return names
}

func (c *claim) owns(name string) bool { return slices.Contains(c.names(), name) }

// unique returns the records of the claim's names on a link.
func (c *claim) unique(l lan.Link, o Options) []record {
	var records []record
	if !c.lent {
		for _, a := range l.Addresses {
			if a := a.Addr(); a.Is4() || !a.IsLinkLocalUnicast() { // browsers open no fe80:: without the name of an interface
				records = append(records, addressRecord(c.host(), a))
			}
		}
	}
	for _, service := range c.services() {
		location := binary.BigEndian.AppendUint16(make([]byte, 4), o.Port) // priority and weight 0
		records = append(records,
			record{c.instance(service), dnsmessage.TypeSRV, true, hostTTL, append(location, wireName(c.host())...)},
			record{c.instance(service), dnsmessage.TypeTXT, true, otherTTL, text(service, o)},
		)
	}
	return records
}

// text returns what a service tells of itself: how it is reached. It says nothing of the
// household, not even whether there is one, nor which version runs here.
func text(service string, o Options) []byte {
	words := []string{"txtvers=1", "path=/"}
	if service == ownService && o.TLSPort != 0 {
		words = append(words, "tls="+strconv.Itoa(int(o.TLSPort)))
	}
	var data []byte
	for _, word := range words {
		data = append(append(data, byte(len(word))), word...)
	}
	return data
}

// shared returns the records that lead to the services; others have some of the same name.
func (c *claim) shared() []record {
	var records []record
	for _, service := range c.services() {
		records = append(records,
			record{service, dnsmessage.TypePTR, false, otherTTL, wireName(c.instance(service))},
			record{allServices, dnsmessage.TypePTR, false, otherTTL, wireName(service)},
		)
	}
	return records
}

// lose gives the name up: it goes on to the next one, or rests.
func (c *claim) lose(now time.Time) {
	c.held, c.lent = false, false
	if c.renamed && c.number < lastNumber {
		c.number++
		return
	}
	c.number, c.lost, c.retry = 1, true, now.Add(restTime)
}

// delay notes a conflict and returns how long to wait because of those before.
func (c *claim) delay(now time.Time) time.Duration {
	c.conflicts = append(c.conflicts, now)
	if len(c.conflicts) <= maxConflicts {
		return 0
	}
	c.conflicts = c.conflicts[1:]
	if now.Sub(c.conflicts[0]) > conflictTime {
		return 0
	}
	return conflictRest
}

// claimsOf returns the names that a machine of a host name wants.
func claimsOf(host string) []*claim {
	claims := []*claim{{base: boxLabel, renamed: true, number: 1}}
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	if host != boxLabel && host != "localhost" && isLabel(host) {
		claims = append(claims, &claim{base: host, number: 1})
	}
	return claims
}

// isLabel reports whether a host may be called by a label (RFC 1123 section 2.1).
func isLabel(label string) bool {
	return label != "" && len(label) <= 63 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
