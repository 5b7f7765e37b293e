package admin

import (
	"strings"
	"testing"

	"sensegate/api/box"
)

func TestSetupTellsWhereToBegin(t *testing.T) {
	t.Parallel()
	reached := box.Reach{Port: 8080, Addresses: []string{"192.168.1.20", "fd00::5"}, Names: []string{"sensegate-2.local"}}
	for name, c := range map[string]struct {
		reach box.Reach
		drawn bool
		want  string // after the QR code
	}{
		"terminal": {reached, true, "Scan this with the camera of a phone in the same network, or open\n" +
			"  http://192.168.1.20:8080/#setup=AAAA-BBBB-CCCC\n" +
			"The box is also at http://sensegate-2.local:8080/, http://[fd00::5]:8080/\n"},
		"journal": {reached, false, "On a phone or computer in the same network, open\n" +
			"  http://192.168.1.20:8080/#setup=AAAA-BBBB-CCCC\n" +
			"The box is also at http://sensegate-2.local:8080/, http://[fd00::5]:8080/\n"},
		"one address": {box.Reach{Port: 80, Addresses: []string{"10.0.0.5"}}, false, "On a phone or computer in the same network, open\n" +
			"  http://10.0.0.5:80/#setup=AAAA-BBBB-CCCC\n"},
		"loopback": {box.Reach{Port: 8080, Alone: true}, true, "Open http://127.0.0.1:8080/#setup=AAAA-BBBB-CCCC on this box. A phone cannot reach it: the appliance listens on loopback alone.\n" +
			"To change that, set http.listen to \":8080\" in the configuration, or SENSEGATE_HTTP_LISTEN=:8080.\n"},
		"no cable":    {box.Reach{Port: 8080}, true, "This box has no address in a private network yet: connect it, and sensegate setup-code shows where to use a code.\n"},
		"not running": {box.Reach{}, true, "The appliance does not run: start it, and sensegate setup-code shows where to use a code.\n"},
	} {
		var out strings.Builder
		if err := ShowSetup(&out, box.Setup{Code: "AAAA-BBBB-CCCC", Reach: c.reach}, c.drawn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		code, text := "", out.String()
		if at := strings.LastIndex(text, "█\n"); at >= 0 {
			code, text = text[:at], strings.TrimLeft(text[at:], "█▀▄ \n")
		}
		if text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
		}
		if drawn := strings.Count(code, "\n") > 10; drawn != (name == "terminal") {
			t.Errorf("%s: QR code drawn: %t", name, drawn)
		}
	}
}

func TestStatusTellsNamesOrWhyThereAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reach box.Reach
		want  string
	}{
		"found": {box.Reach{Port: 8080, Addresses: []string{"192.168.1.20"}, Names: []string{"sensegate.local", "boxa.local"}, Interfaces: []string{"eth0"}},
			"address http://192.168.1.20:8080/\nnames sensegate.local, boxa.local (on eth0)\n"},
		"alone": {box.Reach{Port: 8080, Alone: true, Nameless: "because"}, "address http://127.0.0.1:8080/, for this box alone\nnames none: because\n"},
		"lost":  {box.Reach{Port: 8080, Nameless: "because"}, "address none in a private network\nnames none: because\n"},
	} {
		var out strings.Builder
		showStatus(&out, statusHere{Status: box.Status{Reach: &c.reach}})
		if text := strings.ReplaceAll(out.String(), "\t", " "); !strings.Contains(text, c.want) {
			t.Errorf("%s:\n%s\nlacks\n%s", name, text, c.want)
		}
	}
}
