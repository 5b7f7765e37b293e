package alert

import (
	"maps"
	"slices"
	"strings"

	"github.com/teambition/rrule-go"
)

// together checks the parts against each other: the rules of RFC 5545 section 3.3.10, cases that
// implementations interpret differently, and cases that break the library (an endless loop with
// HOURLY and BYHOUR, an index out of range with 53MO of a month).
func (p *parser) together() {
	o := &p.option
	if _, given := p.parts["FREQ"]; !given {
		p.wrong(nil, "RRULE needs a FREQ")
		return
	}
	if p.has("COUNT") && p.has("UNTIL") {
		p.wrong("UNTIL="+p.parts["UNTIL"], "RRULE must not have both COUNT and UNTIL")
	}
	for _, name := range slices.Sorted(maps.Keys(p.parts)) {
		if o.Freq == rrule.HOURLY && strings.HasPrefix(name, "BY") {
			p.wrong(name+"="+p.parts[name], "%s must not be used with FREQ=HOURLY: use DAILY with BYHOUR", name)
		}
	}
	if times := max(1, len(o.Byhour)) * max(1, len(o.Byminute)) * max(1, len(o.Bysecond)); times > maxTimesOfDay {
		p.wrong(times, "RRULE must give at most %d times of day", maxTimesOfDay)
	}
	p.only("BYWEEKNO", rrule.YEARLY)
	p.only("BYYEARDAY", rrule.YEARLY)
	p.only("BYMONTHDAY", rrule.YEARLY, rrule.MONTHLY, rrule.DAILY)
	if p.has("BYWEEKNO") && !p.has("BYDAY") {
		p.wrong("BYWEEKNO="+p.parts["BYWEEKNO"], "BYWEEKNO needs BYDAY to say which days of the week")
	}
	if p.has("BYSETPOS") && !p.limits() {
		p.wrong("BYSETPOS="+p.parts["BYSETPOS"], "BYSETPOS needs another BY part to choose from")
	}
	p.numbered()
}

// numbered checks a BYDAY with numbers, such as 2MO.
func (p *parser) numbered() {
	o := &p.option
	if len(o.Byweekday) == 0 || o.Byweekday[0].N() == 0 {
		return
	}
	ofMonth := o.Freq == rrule.MONTHLY || p.has("BYMONTH")
	wrong := func(message string) { p.wrong("BYDAY="+p.parts["BYDAY"], "%s", message) }
	switch {
	case o.Freq != rrule.MONTHLY && o.Freq != rrule.YEARLY:
		wrong("BYDAY with a number needs FREQ=MONTHLY or YEARLY")
	case p.has("BYWEEKNO"):
		wrong("BYDAY with a number must not be used with BYWEEKNO")
	case ofMonth:
		for _, day := range o.Byweekday {
			if max(day.N(), -day.N()) > 5 {
				wrong("BYDAY of a month has numbers from 1 to 5, or -1 to -5")
				return
			}
		}
	}
}

func (p *parser) has(name string) bool { return p.parts[name] != "" }

// only rejects a part with other frequencies.
func (p *parser) only(name string, with ...rrule.Frequency) {
	names := make([]string, 0, len(with))
	for _, freq := range with {
		if freq == p.option.Freq {
			return
		}
		names = append(names, freq.String())
	}
	if p.has(name) {
		p.wrong(name+"="+p.parts[name], "%s needs FREQ=%s", name, strings.Join(names, " or "))
	}
}

// limits reports whether there is a BY part other than BYSETPOS.
func (p *parser) limits() bool {
	for name := range p.parts {
		if strings.HasPrefix(name, "BY") && name != "BYSETPOS" {
			return true
		}
	}
	return false
}
