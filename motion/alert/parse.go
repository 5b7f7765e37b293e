package alert

import (
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"sensegate/motion/fault"
)

// maxText is the greatest length of an rrule in bytes.
const maxText = 512

// The forms of RFC 5545 section 3.3.5.
const (
	dateForm     = "20060102"
	dateTimeForm = "20060102T150405"
)

// Parse parses an rrule: a DTSTART line with a zone (TZID, or Z for UTC) and at most one RRULE
// line, separated by "\n" or "\r\n". Without an RRULE line it recurs yearly. DTSTART is an
// occurrence only if it matches the RRULE. Parse returns fault.Invalid at "rrule" with all
// mistakes.
//
// It accepts only what all implementations interpret alike and what is cheap to expand: FREQ
// DAILY to YEARLY, and HOURLY without BY parts; INTERVAL 1 to 1000; COUNT 1 to 10000 or UNTIL;
// at most 24 times of day; the parts that RFC 5545 allows with the FREQ. It rejects EXDATE,
// RDATE, EXRULE, floating times and dates without a time, and ignores X- parts.
func Parse(text string) (Recurrence, error) {
	var m fault.Details
	r := parse(text, "rrule", &m)
	return r, m.Err()
}

// parse is Parse with the mistakes at location. The result is valid only if there are none.
func parse(text, location string, m *fault.Details) Recurrence {
	p := parser{location: location, mistakes: m, option: rrule.ROption{Freq: rrule.YEARLY, Interval: 1}}
	if len(text) > maxText {
		p.wrong(len(text), "must have at most %d characters", maxText)
		return Recurrence{}
	}
	p.lines(text)
	return Recurrence{option: p.option, zone: p.zone, until: p.last()}
}

// parser holds the state of parsing one rrule.
type parser struct {
	location string
	mistakes *fault.Details
	option   rrule.ROption
	zone     *time.Location
	parts    map[string]string // of the RRULE line, in upper case
}

func (p *parser) wrong(value any, format string, args ...any) {
	p.mistakes.Add(p.location, value, format, args...)
}

func (p *parser) lines(text string) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		head, value, _ := strings.Cut(line, ":")
		name, parameters, _ := strings.Cut(strings.ToUpper(head), ";")
		switch {
		case seen[name]:
			p.wrong(line, "has two %s lines", name)
		case name == "DTSTART":
			p.start(line, head, value)
		case name == "RRULE" && parameters == "":
			p.rule(value)
		case name == "EXDATE" || name == "RDATE" || name == "EXRULE":
			p.wrong(line, "%s is not supported: make a rule of its own for other dates", name)
		default:
			p.wrong(line, "has a line that is neither DTSTART nor RRULE")
		}
		seen[name] = true
	}
	if !seen["DTSTART"] {
		p.wrong(nil, "needs a line such as DTSTART;TZID=America/Toronto:20251124T080000")
	}
}

// start parses DTSTART;TZID=zone:date-time, or DTSTART:date-timeZ.
func (p *parser) start(line, head, value string) {
	zoneName, ok := p.parameters(head)
	digits, utc := strings.CutSuffix(strings.ToUpper(value), "Z")
	switch {
	case !ok:
		return
	case utc && zoneName != "":
		p.wrong(line, "DTSTART has both TZID and Z: leave one out")
		return
	case utc:
		zoneName = "UTC"
	case zoneName == "":
		p.wrong(line, "DTSTART needs a zone: DTSTART;TZID=America/Toronto:20251124T080000, or a Z at the end for UTC")
		return
	}
	wall, err := parseWall(digits, dateTimeForm)
	if err != nil || wall.Year() < firstYear || wall.Year() > lastYear {
		p.wrong(line, "DTSTART must be a date and time such as 20251124T080000 in the years %d to %d", firstYear, lastYear)
		return
	}
	zone, err := LoadZone(zoneName)
	if err != nil {
		p.wrong(zoneName, "DTSTART must name a zone of the IANA database such as America/Toronto")
		return
	}
	p.zone, p.option.Dtstart = zone, wall.AddDate(shift, 0, 0)
}

// parameters returns the TZID of a DTSTART line, and whether the line is valid.
func (p *parser) parameters(head string) (zoneName string, ok bool) {
	for i, parameter := range strings.Split(head, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		switch name = strings.ToUpper(name); {
		case i == 0 || name == "VALUE" && strings.EqualFold(value, "DATE-TIME"):
		case name == "TZID" && zoneName == "" && value != "":
			zoneName = value
		default:
			p.wrong(parameter, "DTSTART takes one TZID and a date with a time")
			return "", false
		}
	}
	return zoneName, true
}

// last returns the instant of UNTIL, or zero. A local UNTIL is in the zone of DTSTART; a date
// alone includes that day.
func (p *parser) last() time.Time {
	text, given := p.parts["UNTIL"]
	if !given {
		return time.Time{}
	}
	digits, utc := strings.CutSuffix(text, "Z")
	zone := p.zone
	if utc || zone == nil {
		zone = time.UTC
	}
	if day, err := parseWall(digits, dateForm); err == nil && !utc {
		return instant(day.AddDate(0, 0, 1), zone).Add(-time.Second)
	}
	wall, err := parseWall(digits, dateTimeForm)
	if err != nil {
		p.wrong("UNTIL="+text, "UNTIL must be a date and time such as 20251231T235959Z")
		return time.Time{}
	}
	return instant(wall, zone)
}

// parseWall parses text of exactly a form; it rejects the fraction that time.Parse accepts.
func parseWall(text, form string) (time.Time, error) {
	if len(text) != len(form) {
		return time.Time{}, &time.ParseError{Layout: form, Value: text}
	}
	return time.Parse(form, text)
}
