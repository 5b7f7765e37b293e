package alert_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion/alert"
)

// minutes reads the seconds of one minute a character: '?' unknown, '.' quiet, 'm' motion;
// runs are written as in "30. m 4?".
func minutes(text string) []alert.Second {
	kinds := map[byte]alert.Second{'?': alert.Unknown, '.': alert.Quiet, 'm': alert.Moving}
	var list []alert.Second
	count := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			count = 10*count + int(c-'0')
		case c != ' ':
			for range 60 * max(count, 1) {
				list = append(list, kinds[c])
			}
			count = 0
		}
	}
	return list
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	simple := alert.Monitor{Mode: alert.Simple, DurationMinutes: 60}
	inactivity := alert.Monitor{Mode: alert.Inactivity, DurationMinutes: 60, InactiveMinutes: 30}
	for name, c := range map[string]struct {
		monitor alert.Monitor
		period  string
		want    alert.Verdict
	}{
		"not looked at":                      {alert.Monitor{Mode: alert.None}, "", alert.AtTime},
		"simple: quiet":                      {simple, "60.", alert.NoMotion},
		"simple: one minute of motion":       {simple, "20. m 39.", alert.Motion},
		"simple: motion in a home of gaps":   {simple, "50? m 9?", alert.Motion},
		"simple: a restart":                  {simple, "30. 6? 24.", alert.NoMotion},
		"simple: too little known":           {simple, "30. 7? 23.", alert.NoHistory},
		"simple: nothing known":              {simple, "60?", alert.NoHistory},
		"simple: no period":                  {simple, "", alert.NoHistory},
		"inactivity: quiet":                  {inactivity, "60.", alert.NoMotion},
		"inactivity: quiet at the start":     {inactivity, "30. 30m", alert.NoMotion},
		"inactivity: quiet at the end":       {inactivity, "30m 30.", alert.NoMotion},
		"inactivity: motion every 29 min":    {inactivity, "29. m 29. m", alert.Motion},
		"inactivity: hidden by a gap":        {inactivity, "10. 4? 16. 30m", alert.NoHistory},
		"inactivity: seen despite a gap":     {inactivity, "10. 3? 17. 30m", alert.NoMotion},
		"inactivity: gap too short to hide":  {inactivity, "29m 29? 2m", alert.Motion},
		"inactivity: seen beside a long gap": {inactivity, "30? 30.", alert.NoMotion},
		"inactivity: nothing known":          {inactivity, "60?", alert.NoHistory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := alert.Judge(c.monitor, minutes(c.period)); got != c.want {
				t.Errorf("%+v of %q: got %s, want %s", c.monitor, c.period, got, c.want)
			}
		})
	}
}

// TestUnknownNeverBecomesQuiet: taking data away never makes a home look quieter.
func TestUnknownNeverBecomesQuiet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.SliceOfN(rapid.SampledFrom([]alert.Second{alert.Quiet, alert.Quiet, alert.Moving, alert.Unknown}), 1, 400).Draw(t, "period")
		m := alert.Monitor{Mode: alert.Inactivity, DurationMinutes: len(period), InactiveMinutes: rapid.IntRange(1, 6).Draw(t, "inactive")}
		if rapid.Bool().Draw(t, "simple") {
			m = alert.Monitor{Mode: alert.Simple, DurationMinutes: len(period)}
		}
		full := alert.Judge(m, period)
		if want := slowJudge(m, period); full != want {
			t.Fatalf("%+v of %v: got %s, want %s", m, period, full, want)
		}
		fewer := append([]alert.Second{}, period...)
		for i := range fewer {
			if fewer[i] == alert.Quiet && rapid.Bool().Draw(t, "lost") {
				fewer[i] = alert.Unknown
			}
		}
		if less := alert.Judge(m, fewer); less == alert.NoMotion && full != alert.NoMotion {
			t.Fatalf("%+v: %v is %s, with less known %v is %s", m, period, full, fewer, less)
		}
	})
}

// slowJudge is Judge after its sentence, stretch by stretch.
func slowJudge(m alert.Monitor, period []alert.Second) alert.Verdict {
	length := len(period)
	if m.Mode == alert.Inactivity {
		length = min(60*m.InactiveMinutes, len(period))
	}
	still := false
	for from := 0; from+length <= len(period); from++ {
		counts := strings.Builder{}
		for _, second := range period[from : from+length] {
			counts.WriteByte("?.m"[second])
		}
		unknown := strings.Count(counts.String(), "?")
		switch {
		case strings.Contains(counts.String(), "m"):
		case unknown < length && 10*unknown <= length:
			return alert.NoMotion
		default:
			still = true
		}
	}
	if still {
		return alert.NoHistory
	}
	return alert.Motion
}
