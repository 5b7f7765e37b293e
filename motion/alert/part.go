package alert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/teambition/rrule-go"
)

// Limits of the parts of an RRULE.
const (
	maxInterval   = 1000
	maxCount      = 10_000
	maxTimesOfDay = 24
)

// rule parses the value of the RRULE line.
func (p *parser) rule(value string) {
	p.parts = map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(value), ";") {
		name, text, _ := strings.Cut(part, "=")
		switch _, twice := p.parts[name]; {
		case strings.HasPrefix(name, "X-"):
			continue
		case text == "":
			p.wrong(part, "RRULE has a part that is not NAME=VALUE")
			continue
		case twice:
			p.wrong(part, "RRULE has %s twice", name)
			continue
		}
		p.parts[name] = text
		p.part(name, text)
	}
	p.together()
}

// part parses one part by itself.
func (p *parser) part(name, text string) {
	switch name {
	case "FREQ":
		p.freq(text)
	case "INTERVAL":
		p.option.Interval = p.number(name, text, 1, maxInterval)
	case "COUNT":
		p.option.Count = p.number(name, text, 1, maxCount)
	case "UNTIL": // parsed by last, once the zone is known
	case "WKST":
		if day, n, ok := weekday(text); ok && n == 0 {
			p.option.Wkst = day
		} else {
			p.wrong(name+"="+text, "WKST must be one of MO, TU, WE, TH, FR, SA, SU")
		}
	case "BYDAY":
		p.weekdays(text)
	default:
		p.list(name, text)
	}
}

func (p *parser) freq(text string) {
	known := map[string]rrule.Frequency{
		"YEARLY": rrule.YEARLY, "MONTHLY": rrule.MONTHLY, "WEEKLY": rrule.WEEKLY,
		"DAILY": rrule.DAILY, "HOURLY": rrule.HOURLY,
	}
	freq, ok := known[text]
	if !ok {
		p.wrong("FREQ="+text, "FREQ must be one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY")
	}
	p.option.Freq = freq
}

// number parses an unsigned integer from low to high.
func (p *parser) number(name, text string, low, high int) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int(n) < low || int(n) > high {
		p.wrong(name+"="+text, "%s must be %d to %d", name, low, high)
		return low
	}
	return int(n)
}

// list parses a list of numbers and drops duplicates.
func (p *parser) list(name, text string) {
	list, low, high, signed := p.numbers(name)
	if list == nil {
		p.wrong(name+"="+text, "RRULE has the unknown part %.20q", name)
		return
	}
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(item)
		size := n
		if signed {
			size = max(n, -n)
		}
		if err != nil || size < low || size > high {
			within := "must list numbers from %d to %d"
			if signed {
				within += ", or negative to count from the end"
			}
			p.wrong(name+"="+text, name+" "+within, low, high)
			return
		}
		if !slices.Contains(*list, n) {
			*list = append(*list, n)
		}
	}
}

// numbers returns the target list and the range of the numbers of a part; signed ones may also be
// negative.
func (p *parser) numbers(name string) (list *[]int, low, high int, signed bool) {
	o := &p.option
	switch name {
	case "BYSECOND":
		return &o.Bysecond, 0, 59, false
	case "BYMINUTE":
		return &o.Byminute, 0, 59, false
	case "BYHOUR":
		return &o.Byhour, 0, 23, false
	case "BYMONTHDAY":
		return &o.Bymonthday, 1, 31, true
	case "BYYEARDAY":
		return &o.Byyearday, 1, 366, true
	case "BYWEEKNO":
		return &o.Byweekno, 1, 53, true
	case "BYMONTH":
		return &o.Bymonth, 1, 12, false
	case "BYSETPOS":
		return &o.Bysetpos, 1, 366, true
	}
	return nil, 0, 0, false
}

// weekdays parses BYDAY: days, or days with a number, without duplicates.
func (p *parser) weekdays(text string) {
	numbered := 0
	for item := range strings.SplitSeq(text, ",") {
		day, n, ok := weekday(item)
		if !ok {
			p.wrong("BYDAY="+text, "BYDAY must list days such as MO, or 1MO and -1SU for the first and the last")
			return
		}
		if n != 0 {
			numbered++
			day = day.Nth(n)
		}
		if !slices.Contains(p.option.Byweekday, day) {
			p.option.Byweekday = append(p.option.Byweekday, day)
		}
	}
	if numbered != 0 && numbered != strings.Count(text, ",")+1 {
		p.wrong("BYDAY="+text, "BYDAY must list days either all with a number or all without")
	}
}

// weekday parses a day such as MO, or with a number from −53 to 53 as in -1SU; n is 0 without
// one.
func weekday(text string) (day rrule.Weekday, n int, ok bool) {
	days := map[string]rrule.Weekday{
		"MO": rrule.MO, "TU": rrule.TU, "WE": rrule.WE, "TH": rrule.TH,
		"FR": rrule.FR, "SA": rrule.SA, "SU": rrule.SU,
	}
	if len(text) < 2 {
		return day, 0, false
	}
	number, name := text[:len(text)-2], text[len(text)-2:]
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n == 0 || n < -53 || n > 53 {
			return day, 0, false
		}
	}
	day, ok = days[name]
	return day, n, ok
}
