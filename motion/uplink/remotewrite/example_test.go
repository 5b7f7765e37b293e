package remotewrite_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// examples is the folder of the worked example.
const examples = "../../../docs/fleet"

// queries returns every query of the dashboard and of the rules, with the value of a variable in place
// of its name.
func queries(t *testing.T) (all []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	raw, err := os.ReadFile(filepath.Join(examples, "dashboard.json"))
	if err == nil {
		err = json.Unmarshal(raw, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(filepath.Join(examples, "alerts.yml")); err == nil {
		err = yaml.Unmarshal(raw, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, strings.ReplaceAll(target.Expr, "$box", ".*"))
		}
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Expr)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d queries", len(all))
	}
	return all
}

// names returns the metrics that a database has.
func (d database) names(t *testing.T) (all []string) {
	t.Helper()
	response, err := http.Get("http://" + d.address + "/api/v1/label/__name__/values")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Data []string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data
}

func TestExampleQueriesNameSeriesThatAreSent(t *testing.T) {
	t.Parallel()
	d := prometheus(t, "2h")
	_, now, _ := outage(t, d, minute)
	sent := d.names(t)
	named := regexp.MustCompile(`sensegate_\w+`)
	for _, query := range queries(t) {
		if _, err := d.get("/api/v1/query", url.Values{"query": {query}, "time": {now.Std().Format("2006-01-02T15:04:05Z")}}); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		for _, name := range named.FindAllString(query, -1) {
			if !slices.Contains(sent, name) {
				t.Errorf("%s: %s is not sent, of %v", query, name, sent)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(examples, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sent {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("README.md does not tell of %s", name)
		}
	}
}

func TestExampleConfigurationIsSound(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("promtool is not installed")
		}
		t.Skip("promtool is not installed")
	}
	if out, err := exec.Command(promtool, "check", "config", filepath.Join(examples, "prometheus.yml")).CombinedOutput(); err != nil || !strings.Contains(string(out), "5 rules found") {
		t.Errorf("%v\n%s", err, out)
	}
}
