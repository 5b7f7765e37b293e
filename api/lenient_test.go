package api_test

import (
	"encoding/json"
	"testing"

	"sensegate/api"
)

func TestLenientFieldIsReadFromBothForms(t *testing.T) {
	t.Parallel()
	type body struct {
		Number  api.Lenient[uint32]   `json:"number"`
		Decimal *api.Lenient[float64] `json:"decimal"`
		Flag    api.Lenient[bool]     `json:"flag"`
		Absent  *api.Lenient[bool]    `json:"absent"`
	}
	for _, text := range []string{`{"number":17,"decimal":-80.5,"flag":true}`, `{"number":"17","decimal":"-80.5","flag":"true"}`, `{"number":"0017","decimal":"-080.5","flag":"true"}`} {
		var b body
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if b.Number.Value != 17 || b.Decimal.Value != -80.5 || !b.Flag.Value || b.Absent != nil {
			t.Errorf("%s: %+v", text, b)
		}
	}
	for _, text := range []string{`{"number":"x"}`, `{"number":-1}`, `{"number":"17.5"}`, `{"flag":"1"}`, `{"flag":1}`, `{"number":{}}`} {
		var b body
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			t.Errorf("%s was read: %+v", text, b)
		}
	}
}
