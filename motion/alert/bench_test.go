package alert_test

import (
	"testing"
	"time"

	"sensegate/motion/alert"
)

// BenchmarkNext shows what finding the next occurrence costs: of an ordinary rule
// after years, and of the most expensive ones that Parse lets through.
func BenchmarkNext(b *testing.B) {
	after := time.Date(2035, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ name, text string }{
		{"ordinary", "DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"},
		{"dense", "DTSTART:20000101T000000Z\nRRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"},
		{"hourly", "DTSTART:20000101T000000Z\nRRULE:FREQ=HOURLY"},
		{"yearly", "DTSTART:20000101T000000Z\nRRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"},
		{"setpos", "DTSTART:20000101T000000Z\nRRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;BYSETPOS=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12"},
		{"never daily", "DTSTART:20000101T000000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"},
		{"never weekly", "DTSTART:20000101T000000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO;BYMONTH=2;BYSETPOS=7"},
		{"never monthly", "DTSTART:20000101T000000Z\nRRULE:FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30"},
		{"never yearly", "DTSTART:20000101T000000Z\nRRULE:FREQ=YEARLY;BYYEARDAY=1;BYMONTH=2"},
		{"never yearly set", "DTSTART:20000101T000000Z\nRRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMONTHDAY=31;BYMONTH=2;BYSETPOS=1,2,3,4,5,6,7,8,9"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := alert.Parse(c.text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Next(after)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := alert.Parse("DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"); err != nil {
			b.Fatal(err)
		}
	}
}
