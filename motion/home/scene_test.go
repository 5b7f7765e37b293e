package home_test

import (
	"testing"
	"time"

	"sensegate/motion/home"
)

func TestGuardianWindowIsThatOfTheDayItBeginsOn(t *testing.T) {
	t.Parallel()
	toronto, err := time.LoadLocation("America/Toronto")
	if err != nil {
		t.Skip("no time zones here")
	}
	usual := home.DefaultSceneConfig()
	usual.GuardianEnabled = true
	night := usual
	night.WeekdayStartHours, night.WeekdayStartMinutes, night.WeekdayEndHours = 22, 30, 6
	empty := usual
	empty.WeekdayEndHours = 6
	at := func(text string) time.Time {
		parsed, err := time.ParseInLocation("2006-01-02 15:04", text, toronto)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for name, c := range map[string]struct {
		config   home.SceneConfig
		at       string
		from, to string // "": in no window
	}{
		"Monday morning":              {usual, "2025-11-24 06:00", "2025-11-24 06:00", "2025-11-24 08:00"},
		"before it":                   {usual, "2025-11-24 05:59", "", ""},
		"its end":                     {usual, "2025-11-24 08:00", "", ""},
		"Saturday is later":           {usual, "2025-11-22 06:30", "", ""},
		"Saturday morning":            {usual, "2025-11-22 08:59", "2025-11-22 07:00", "2025-11-22 09:00"},
		"night, evening":              {night, "2025-11-24 23:00", "2025-11-24 22:30", "2025-11-25 06:00"},
		"night, after midnight":       {night, "2025-11-25 05:59", "2025-11-24 22:30", "2025-11-25 06:00"},
		"night of Friday to Saturday": {night, "2025-11-22 05:00", "2025-11-21 22:30", "2025-11-22 06:00"},
		"no night of Sunday":          {night, "2025-11-24 05:00", "", ""},
		"empty":                       {empty, "2025-11-24 06:00", "", ""},
		"disabled":                    {home.DefaultSceneConfig(), "2025-11-24 07:00", "", ""},
		"clocks go back":              {usual, "2025-11-02 08:00", "2025-11-02 07:00", "2025-11-02 09:00"},
	} {
		from, to, in := c.config.GuardianWindow(at(c.at))
		if in != (c.from != "") || in && (!from.Equal(at(c.from)) || !to.Equal(at(c.to))) {
			t.Errorf("%s: %v to %v, %t; want %s to %s", name, from, to, in, c.from, c.to)
		}
	}
}
