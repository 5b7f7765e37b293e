package alert_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

const toronto = "DTSTART;TZID=America/Toronto:20251124T080000\n"

func TestRefusedRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, message string }{
		"nothing":                  {"", "needs a line such as DTSTART"},
		"no start":                 {"RRULE:FREQ=DAILY", "needs a line such as DTSTART"},
		"too long":                 {toronto + "RRULE:FREQ=DAILY;BYHOUR=" + strings.Repeat("8,", 300) + "8", "at most 512 characters"},
		"floating":                 {"DTSTART:20251124T080000\nRRULE:FREQ=DAILY", "needs a zone"},
		"zone and Z":               {"DTSTART;TZID=America/Toronto:20251124T080000Z", "both TZID and Z"},
		"date alone":               {"DTSTART;VALUE=DATE:20251124", "a date with a time"},
		"fraction":                 {"DTSTART:20251124T080000.5Z", "must be a date and time"},
		"year 1999":                {"DTSTART:19991231T080000Z", "in the years 2000 to 2099"},
		"day that is none":         {"DTSTART:20250230T080000Z", "must be a date and time"},
		"unknown zone":             {"DTSTART;TZID=America/Nowhere:20251124T080000", "zone of the IANA database"},
		"machine's zone":           {"DTSTART;TZID=Local:20251124T080000", "zone of the IANA database"},
		"zone with leap seconds":   {"DTSTART;TZID=right/America/Toronto:20251124T080000", "zone of the IANA database"},
		"zone outside":             {"DTSTART;TZID=../../etc/passwd:20251124T080000", "zone of the IANA database"},
		"two starts":               {toronto + toronto, "two DTSTART lines"},
		"two rules":                {toronto + "RRULE:FREQ=DAILY\nRRULE:FREQ=DAILY", "two RRULE lines"},
		"exception dates":          {toronto + "EXDATE:20251125T130000Z", "EXDATE is not supported"},
		"further dates":            {toronto + "RDATE:20251125T130000Z", "RDATE is not supported"},
		"other line":               {toronto + "SUMMARY:x", "neither DTSTART nor RRULE"},
		"no frequency":             {toronto + "RRULE:COUNT=1", "needs a FREQ"},
		"every minute":             {toronto + "RRULE:FREQ=MINUTELY", "FREQ must be one of"},
		"hourly at hours":          {toronto + "RRULE:FREQ=HOURLY;INTERVAL=2;BYHOUR=5", "must not be used with FREQ=HOURLY"},
		"interval 0":               {toronto + "RRULE:FREQ=DAILY;INTERVAL=0", "INTERVAL must be 1 to 1000"},
		"interval 1001":            {toronto + "RRULE:FREQ=DAILY;INTERVAL=1001", "INTERVAL must be 1 to 1000"},
		"count 0":                  {toronto + "RRULE:FREQ=DAILY;COUNT=0", "COUNT must be 1 to 10000"},
		"count 10001":              {toronto + "RRULE:FREQ=DAILY;COUNT=10001", "COUNT must be 1 to 10000"},
		"count and until":          {toronto + "RRULE:FREQ=DAILY;COUNT=2;UNTIL=20260101T000000Z", "both COUNT and UNTIL"},
		"until that is none":       {toronto + "RRULE:FREQ=DAILY;UNTIL=tomorrow", "UNTIL must be a date and time"},
		"part twice":               {toronto + "RRULE:FREQ=DAILY;BYHOUR=8;BYHOUR=9", "BYHOUR twice"},
		"empty part":               {toronto + "RRULE:FREQ=DAILY;;COUNT=1", "not NAME=VALUE"},
		"unknown part":             {toronto + "RRULE:FREQ=YEARLY;BYEASTER=1", `unknown part "BYEASTER"`},
		"hour 24":                  {toronto + "RRULE:FREQ=DAILY;BYHOUR=24", "BYHOUR must list numbers from 0 to 23"},
		"month day 0":              {toronto + "RRULE:FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY must list numbers from 1 to 31, or negative"},
		"25 times a day":           {toronto + "RRULE:FREQ=DAILY;BYMINUTE=0,1,2,3,4;BYHOUR=1,2,3,4,5", "at most 24 times of day"},
		"month day of a week":      {toronto + "RRULE:FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY needs FREQ=YEARLY or MONTHLY or DAILY"},
		"year day of a month":      {toronto + "RRULE:FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY needs FREQ=YEARLY"},
		"week without a day":       {toronto + "RRULE:FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO needs BYDAY"},
		"position of nothing":      {toronto + "RRULE:FREQ=DAILY;BYSETPOS=1", "BYSETPOS needs another BY part"},
		"second Monday of a week":  {toronto + "RRULE:FREQ=WEEKLY;BYDAY=2MO", "needs FREQ=MONTHLY or YEARLY"},
		"53rd Monday of a month":   {toronto + "RRULE:FREQ=MONTHLY;BYDAY=53MO", "numbers from 1 to 5"},
		"53rd Monday of December":  {toronto + "RRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=-53MO", "numbers from 1 to 5"},
		"numbered and plain days":  {toronto + "RRULE:FREQ=MONTHLY;BYDAY=MO,2TU", "all with a number or all without"},
		"numbered days of a week":  {toronto + "RRULE:FREQ=YEARLY;BYWEEKNO=2;BYDAY=2TU", "must not be used with BYWEEKNO"},
		"a day that is none":       {toronto + "RRULE:FREQ=WEEKLY;BYDAY=XX", "BYDAY must list days"},
		"week start that is none":  {toronto + "RRULE:FREQ=WEEKLY;WKST=1MO", "WKST must be one of"},
		"a rule with a parameter":  {toronto + "RRULE;X=1:FREQ=DAILY", "neither DTSTART nor RRULE"},
		"two zones of one start":   {"DTSTART;TZID=Asia/Tokyo;TZID=Asia/Seoul:20251124T080000", "one TZID"},
		"long name of an unknown":  {toronto + "RRULE:FREQ=DAILY;" + strings.Repeat("A", 100) + "=1", "unknown part"},
		"negative number, no sign": {toronto + "RRULE:FREQ=DAILY;BYHOUR=-1", "BYHOUR must list numbers from 0 to 23"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := alert.Parse(c.text)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid {
				t.Fatalf("%q: got %v, want an invalid input", c.text, err)
			}
			says := func(d fault.Detail) bool { return d.Location == "rrule" && strings.Contains(d.Message, c.message) }
			if !slices.ContainsFunc(f.Details, says) {
				t.Errorf("%q: got %+v, want %q", c.text, f.Details, c.message)
			}
		})
	}
}

func TestAllMistakesOfARuleAreNamed(t *testing.T) {
	t.Parallel()
	_, err := alert.Parse("DTSTART:yesterday\nRRULE:FREQ=SOON;INTERVAL=0;UNTIL=never;BYHOUR=24\nEXDATE:20250101T000000Z")
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Details) != 6 {
		t.Fatalf("got %+v, want six mistakes", f)
	}
}

func TestAcceptedForms(t *testing.T) {
	t.Parallel()
	want := []string{"2025-11-24T13:00:00Z", "2025-11-25T13:00:00Z"}
	for name, text := range map[string]string{
		"line feed":            toronto + "RRULE:FREQ=DAILY;COUNT=2",
		"carriage return":      "DTSTART;TZID=America/Toronto:20251124T080000\r\nRRULE:FREQ=DAILY;COUNT=2\r\n",
		"rule first":           "RRULE:FREQ=DAILY;COUNT=2\n" + toronto,
		"lower case":           "dtstart;tzid=America/Toronto:20251124t080000\nrrule:freq=daily;count=2",
		"date-time value":      "DTSTART;VALUE=DATE-TIME;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=DAILY;COUNT=2",
		"UTC":                  "DTSTART:20251124T130000Z\nRRULE:FREQ=DAILY;COUNT=2",
		"experimental part":    toronto + "RRULE:FREQ=DAILY;COUNT=2;X-NOTE=1",
		"until, UTC":           toronto + "RRULE:FREQ=DAILY;UNTIL=20251125T130000Z",
		"until, local":         toronto + "RRULE:FREQ=DAILY;UNTIL=20251125T080000",
		"until, a whole day":   toronto + "RRULE:FREQ=DAILY;UNTIL=20251125",
		"repeated values":      toronto + "RRULE:FREQ=DAILY;BYHOUR=8,8,8;COUNT=2",
		"every 24th hour":      toronto + "RRULE:FREQ=HOURLY;INTERVAL=24;COUNT=2",
		"repeated numbered BY": toronto + "RRULE:FREQ=DAILY;BYDAY=MO,MO,TU;COUNT=2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := alert.Parse(text)
			if err != nil {
				t.Fatalf("%q: %+v", text, err)
			}
			if got := from(r, "2025-01-01T00:00:00Z", 3); !slices.Equal(got, want) {
				t.Errorf("%q: got %v, want %v", text, got, want)
			}
		})
	}
}

func TestWithoutRuleLineItIsYearly(t *testing.T) {
	t.Parallel()
	r, err := alert.Parse(toronto)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2025-11-24T13:00:00Z", "2026-11-24T13:00:00Z"}
	if got := from(r, "2025-01-01T00:00:00Z", 2); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestClockChanges checks gaps (the offset before counts) and overlaps (the first
// instant counts).
func TestClockChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"skipped hour": {
			"DTSTART;TZID=America/Toronto:20260307T023000\nRRULE:FREQ=DAILY;COUNT=3",
			[]string{"2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"},
		},
		"repeated hour": {
			"DTSTART;TZID=America/Toronto:20251101T013000\nRRULE:FREQ=DAILY;COUNT=3",
			[]string{"2025-11-01T05:30:00Z", "2025-11-02T05:30:00Z", "2025-11-03T06:30:00Z"},
		},
		"skipped midnight": {
			"DTSTART;TZID=America/Santiago:20240907T000000\nRRULE:FREQ=DAILY;COUNT=3",
			[]string{"2024-09-07T04:00:00Z", "2024-09-08T04:00:00Z", "2024-09-09T03:00:00Z"},
		},
		"skipped day": {
			"DTSTART;TZID=Pacific/Apia:20111229T080000\nRRULE:FREQ=DAILY;COUNT=4",
			[]string{"2011-12-29T18:00:00Z", "2011-12-30T18:00:00Z", "2011-12-31T18:00:00Z"},
		},
		"later wall time is earlier": {
			"DTSTART;TZID=America/Toronto:20260308T000000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;COUNT=4",
			[]string{"2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z"},
		},
		"hourly": {
			"DTSTART;TZID=America/Toronto:20260308T010000\nRRULE:FREQ=HOURLY;COUNT=4",
			[]string{"2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"},
		},
		"half an hour": {
			"DTSTART;TZID=Australia/Lord_Howe:20251004T021500\nRRULE:FREQ=DAILY;COUNT=3",
			[]string{"2025-10-03T15:45:00Z", "2025-10-04T15:45:00Z", "2025-10-05T15:15:00Z"},
		},
		"until within the repeated hour": {
			"DTSTART;TZID=America/Toronto:20251101T013000\nRRULE:FREQ=DAILY;UNTIL=20251102T061000Z",
			[]string{"2025-11-01T05:30:00Z", "2025-11-02T05:30:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := alert.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := from(r, "2000-01-01T00:00:00Z", 9); !slices.Equal(got, c.want) {
				t.Errorf("%q:\n got %v\nwant %v", c.text, got, c.want)
			}
		})
	}
}

func TestWhatIsTenYearsAwayIsNothing(t *testing.T) {
	t.Parallel()
	r, err := alert.Parse("DTSTART:20240229T080000Z\nRRULE:FREQ=YEARLY;INTERVAL=12")
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string]int{"1970-01-01T00:00:00Z": 1, "2025-01-01T00:00:00Z": 0, "2027-01-01T00:00:00Z": 1} {
		if got := from(r, after, 9); len(got) != want {
			t.Errorf("after %s: got %v, want %d", after, got, want)
		}
	}
}

// from returns the first occurrences after a time.
func from(r alert.Recurrence, after string, most int) []string {
	var list []string
	for t := range r.After(at(after)) {
		if len(list) == most {
			break
		}
		list = append(list, t.Format(time.RFC3339))
	}
	return list
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}
