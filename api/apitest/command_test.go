package apitest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandsAreUnderstood(t *testing.T) {
	t.Parallel()
	var calls []wanted
	var told []string
	s := shell{
		variables: map[string]string{"LINK": "http://a/b?token=x.y"},
		run: func(c wanted) (string, error) {
			calls = append(calls, c)
			return "picked", nil
		},
		publish: func(user, password, topic, payload string) error {
			told = append(told, user, password, topic, payload)
			return nil
		},
	}
	err := s.do(`T=$(curl -s http://a/ -d n=1 --data-urlencode 'name=J & Co' | jq -r '.data[0].id')
curl -sX PUT -w '%{http_code}\n' -o f.png -H "Authorization: $T" "http://a/${LINK#*token=}/"
mosquitto_pub -u me -P $T -t 'a b' -m '[1,
 2]'
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []wanted{
		{method: "POST", url: "http://a/", body: "n=1&name=J+%26+Co", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, assign: "T", pick: ".data[0].id"},
		{method: "PUT", url: "http://a/x.y/", header: map[string]string{"Authorization": "picked"}, write: `%{http_code}\n`},
	}
	if diff := cmp.Diff(want, calls, cmp.AllowUnexported(wanted{})); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"me", "picked", "a b", "[1,\n 2]"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	for _, wrong := range []string{"wget http://a", "curl http://a http://b", "curl --insecure x http://a", "curl -H", "mosquitto_pub -r x", "curl $NOBODY", "curl 'http://a"} {
		if err := s.do(wrong); err == nil {
			t.Errorf("%s is understood", wrong)
		}
	}
}
