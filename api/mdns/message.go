package mdns

import (
	"bytes"
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	flushBit   = 1 << 15 // of the class of a record: it replaces what is cached (RFC 6762 section 10.2)
	unicastBit = 1 << 15 // of the class of a question: the answer may come by unicast (RFC 6762 section 5.4)

	typeNSEC = dnsmessage.Type(47) // RFC 4034 section 4

	// maxRecords bounds what is read of one message. The answers of a large network to one
	// question take many messages.
	maxRecords = 256
)

// record is a resource record. Names are in lower case, with a final dot; data is as it
// stands on the wire, names in it without compression.
type record struct {
	name  string
	kind  dnsmessage.Type
	flush bool
	ttl   uint32 // seconds
	data  []byte
}

// same reports whether two records differ in nothing but time to live and flush bit.
func (r record) same(other record) bool {
	return r.name == other.name && r.kind == other.kind && bytes.Equal(r.data, other.data)
}

// key is equal for records that are the same.
func (r record) key() string { return r.kind.String() + " " + r.name + " " + string(r.data) }

// compare orders records as probes of two who want one name are compared (RFC 6762 section
// 8.2).
func (r record) compare(other record) int {
	return cmp.Or(cmp.Compare(r.kind, other.kind), bytes.Compare(r.data, other.data))
}

// question asks for records of a name.
type question struct {
	name    string
	kind    dnsmessage.Type
	unicast bool
}

// message is a DNS message, as far as this package needs it.
type message struct {
	id        uint16
	response  bool
	truncated bool // more known answers follow

	questions  []question
	answers    []record
	authority  []record
	additional []record
}

var errIgnored = errors.New("neither a query nor a response of multicast DNS")

// parse reads a message. Questions and records that cannot be read, such as those with a dot
// in a label, are left out: none of our names has one.
func parse(data []byte) (message, error) {
	var p dnsmessage.Parser
	header, err := p.Start(data)
	if err != nil {
		return message{}, err
	}
	if header.OpCode != 0 || header.RCode != dnsmessage.RCodeSuccess { // RFC 6762 sections 18.3 and 18.11
		return message{}, errIgnored
	}
	m := message{id: header.ID, response: header.Response, truncated: header.Truncated}
	if m.questions, err = readQuestions(&p); err != nil {
		return m, err
	}
	for _, section := range []struct {
		to     *[]record
		header func() (dnsmessage.ResourceHeader, error)
		skip   func() error
	}{
		{&m.answers, p.AnswerHeader, p.SkipAnswer},
		{&m.authority, p.AuthorityHeader, p.SkipAuthority},
		{&m.additional, p.AdditionalHeader, p.SkipAdditional},
	} {
		if *section.to, err = readRecords(&p, section.header, section.skip); err != nil {
			return m, err
		}
	}
	return m, nil
}

func readQuestions(p *dnsmessage.Parser) (questions []question, err error) {
	for range maxRecords {
		q, err := p.Question()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return questions, nil
		}
		if err != nil {
			if err := p.SkipQuestion(); err != nil {
				return nil, err
			}
			continue
		}
		if class := q.Class &^ unicastBit; class == dnsmessage.ClassINET || class == dnsmessage.ClassANY {
			questions = append(questions, question{strings.ToLower(q.Name.String()), q.Type, q.Class&unicastBit != 0})
		}
	}
	return nil, errIgnored
}

// readRecords reads a section, whose functions are given.
func readRecords(p *dnsmessage.Parser, header func() (dnsmessage.ResourceHeader, error), skip func() error) (records []record, err error) {
	for range maxRecords {
		h, err := header()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return records, nil
		}
		if err == nil && h.Class&^flushBit == dnsmessage.ClassINET {
			if data, ok := readData(p, h); ok {
				records = append(records, record{strings.ToLower(h.Name.String()), h.Type, h.Class&flushBit != 0, h.TTL, data})
				continue
			}
		}
		if err := skip(); err != nil {
			return nil, err
		}
	}
	return nil, errIgnored
}

// readData reads the data of a record whose header has been read. A name in it is expanded
// where that matters to us: that of a PTR.
func readData(p *dnsmessage.Parser, h dnsmessage.ResourceHeader) ([]byte, bool) {
	if h.Type == dnsmessage.TypePTR {
		pointer, err := p.PTRResource()
		return wireName(strings.ToLower(pointer.PTR.String())), err == nil
	}
	raw, err := p.UnknownResource()
	return raw.Data, err == nil
}

// pack returns a message as it goes on the wire.
func (m message) pack() ([]byte, error) {
	out := dnsmessage.Message{Header: dnsmessage.Header{ID: m.id, Response: m.response, Authoritative: m.response, Truncated: m.truncated}}
	for _, q := range m.questions {
		name, err := dnsmessage.NewName(q.name)
		if err != nil {
			return nil, err
		}
		class := dnsmessage.ClassINET
		if q.unicast {
			class |= unicastBit
		}
		out.Questions = append(out.Questions, dnsmessage.Question{Name: name, Type: q.kind, Class: class})
	}
	for _, section := range []struct {
		to   *[]dnsmessage.Resource
		from []record
	}{{&out.Answers, m.answers}, {&out.Authorities, m.authority}, {&out.Additionals, m.additional}} {
		for _, r := range section.from {
			packed, err := r.resource()
			if err != nil {
				return nil, err
			}
			*section.to = append(*section.to, packed)
		}
	}
	return out.Pack()
}

func (r record) resource() (dnsmessage.Resource, error) {
	name, err := dnsmessage.NewName(r.name)
	class := dnsmessage.ClassINET
	if r.flush {
		class |= flushBit
	}
	return dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: name, Class: class, TTL: r.ttl},
		Body:   &dnsmessage.UnknownResource{Type: r.kind, Data: r.data},
	}, err
}

// wireName returns a name with a final dot as it goes on the wire, without compression.
func wireName(name string) []byte {
	var wire []byte
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		wire = append(append(wire, byte(len(label))), label...)
	}
	return append(wire, 0)
}

// addressRecord returns the A or AAAA record of an address.
func addressRecord(name string, a netip.Addr) record {
	kind := dnsmessage.TypeAAAA
	if a.Is4() {
		kind = dnsmessage.TypeA
	}
	return record{name, kind, true, hostTTL, a.AsSlice()}
}

// addressOf returns the address that a record tells, and whether it tells one.
func (r record) addressOf() (netip.Addr, bool) {
	if r.kind != dnsmessage.TypeA && r.kind != dnsmessage.TypeAAAA {
		return netip.Addr{}, false
	}
	return netip.AddrFromSlice(r.data)
}

// noOther returns the record that says which types of records a name has: no others
// (RFC 6762 section 6.1).
func noOther(name string, has []record) record {
	highest := byte(0)
	var bits [32]byte // types up to 255 (RFC 4034 section 4.1.2)
	for _, r := range has {
		if r.name == name && r.kind < 256 {
			bits[r.kind/8] |= 0x80 >> (r.kind % 8)
			highest = max(highest, byte(r.kind/8))
		}
	}
	data := append(wireName(name), 0, highest+1)
	return record{name, typeNSEC, true, hostTTL, append(data, bits[:highest+1]...)}
}

// contains reports whether records has one that is the same as r.
func contains(records []record, r record) bool { return slices.ContainsFunc(records, r.same) }
