package core_test

import (
	"fmt"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// setSettings gives the first network the usual application settings, or none.
func (h *home) setSettings(some bool) {
	h.T.Helper()
	err := h.db.Update(h.T.Context(), func(tx *store.Tx) error {
		if some {
			s := motion.DefaultApplicationSettings(h.network)
			s.Timezone = "America/Toronto"
			return tx.PutApplicationSettings(s)
		}
		if err := tx.DeleteApplicationSettings(h.network); fault.KindOf(err) != fault.NotFound {
			return err
		}
		return nil
	})
	if err != nil {
		h.T.Fatal(err)
	}
}

// settings is the path of the first network's application settings.
func (h *home) settings() string { return fmt.Sprintf("/network/%d/application/settings", h.network) }

func TestApplicationSettingsFromFirstToLast(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := h.settings()
	record := func(zone string, enabled bool, hours ...int) string {
		return fmt.Sprintf(`{"network_id":%d,"timezone":%q,"enabled":%t,"sleep_hour":%d,"sleep_minute":%d,"wake_hour":%d,"wake_minute":%d}`,
			h.network, zone, enabled, hours[0], hours[1], hours[2], hours[3])
	}
	apitest.WantProblem(t, h.get(path), 404, "application settings")
	apitest.WantProblem(t, h.As(h.all, "PATCH", path, `{"enabled":true}`), 404, "application settings")
	apitest.WantProblem(t, h.As(h.all, "DELETE", path, ""), 404, "application settings")

	first := record("America/Toronto", true, 22, 30, 6, 45)
	apitest.WantJSON(t, h.post(path, first), first)
	apitest.WantProblem(t, h.post(path, first), 409, "change them with PATCH")
	apitest.WantJSON(t, h.As(h.all, "PATCH", path, `{"timezone":"Asia/Kolkata"}`), record("Asia/Kolkata", true, 22, 30, 6, 45))
	apitest.WantJSON(t, h.As(h.all, "PATCH", path, `{"enabled":false,"sleep_hour":0,"wake_minute":59}`), record("Asia/Kolkata", false, 0, 30, 6, 59))
	apitest.WantJSON(t, h.As(h.all, "PATCH", path, `{}`), record("Asia/Kolkata", false, 0, 30, 6, 59))
	apitest.WantJSON(t, h.get(path), record("Asia/Kolkata", false, 0, 30, 6, 59))
	apitest.WantJSON(t, h.As(h.all, "PATCH", path, `{"timezone":null,"sleep_hour":null,"wake_minute":null}`), record("UTC", false, 23, 30, 6, 0))
	apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/application/settings", h.other)), 404, "application settings")

	if a := h.As(h.all, "DELETE", path, ""); a.Status != 204 {
		t.Errorf("deletion: %d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, h.get(path), 404, "application settings")
	apitest.WantJSON(t, h.post(path, `{"timezone":"UTC"}`), record("UTC", false, 23, 0, 7, 0))
}

func TestApplicationSettingsNameEveryMistake(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wrong := `{"network_id":99,"timezone":"Mars/Olympus","enabled":"yes","sleep_hour":24,"sleep_minute":-1,"wake_hour":7.5,"wake_minute":60,"bedtime":1}`
	fields := []string{"network_id", "timezone", "enabled", "sleep_hour", "sleep_minute", "wake_hour", "wake_minute", "bedtime"}
	for _, method := range []string{"POST", "PATCH"} {
		a := h.As(h.all, method, h.settings(), wrong)
		for _, field := range fields {
			apitest.WantProblem(t, a, 422, `"body.`+field+`"`)
		}
		for _, zone := range []string{"", "Local", "Factory", "localtime", "right/America/Toronto", "posix/UTC", "../etc/passwd", "America", "America/toronto2", "EST5EDT4"} {
			apitest.WantProblem(t, h.As(h.all, method, h.settings(), fmt.Sprintf(`{"timezone":%q}`, zone)), 422, "body.timezone")
		}
		apitest.WantProblem(t, h.As(h.all, method, h.settings(), `[]`), 422, "body")
	}
	apitest.WantProblem(t, h.get(h.settings()), 404, "not found")
}
