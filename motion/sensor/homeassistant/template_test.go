package homeassistant

import (
	"testing"

	"sensegate/motion/fault"
)

func TestTemplatesMakeTheStateOfAMessage(t *testing.T) {
	t.Parallel()
	const ifElse = "{% if value_json.value == '7821834' %}\n  {{'ON'}}\n{% elif value_json.value == '7821838' %}\n  {{'OFF'}}\n{% else %}\n  {{ value_json.last | upper }}\n{% endif %}"
	for _, c := range []struct{ name, template, message, want string }{
		{"none", "", " ON\n", "ON"},
		{"a key, as Python writes it", "{{ value_json.occupancy }}", `{"occupancy":true}`, "True"},
		{"a key in brackets", `{{ value_json["contact"] }}`, `{"contact":false}`, "False"},
		{"no space", "{{value_json['a b'].c}}", `{"a b":{"c":"open"}}`, "open"},
		{"a number keeps its form", "{{ value_json.n }}", `{"n":23}`, "23"},
		{"nothing", "{{ value_json.n }}", `{"n":null}`, "None"},
		{"a place in a list", "{{ value_json.list[1].on }}", `{"list":[0,{"on":"yes"}]}`, "yes"},
		{"the message itself", "{{ value | lower }}", "OPEN", "open"},
		{"is_defined of what is there", "{{ value_json.presence | is_defined }}", `{"presence":"home"}`, "home"},
		{"a default", "{{ value_json.x | default('OFF') }}", `{}`, "OFF"},
		{"get", "{{ value_json.get('x') }}", `{"x":"ON"}`, "ON"},
		{"a choice", "{{ 'ON' if value_json.value == 8 else 'OFF' }}", `{"value":8}`, "ON"},
		{"the other choice", "{{ 'ON' if value_json.value == 8 else 'OFF' }}", `{"value":0}`, "OFF"},
		{"a choice of what counts as true", "{{ 'ON' if value_json.motion else 'OFF' }}", `{"motion":0}`, "OFF"},
		{"a comparison", "{{ value_json.value == 23 }}", `{"value":23}`, "True"},
		{"numbers in order", "{{ value_json.n | int > 5 and not value_json.off }}", `{"n":"7","off":false}`, "True"},
		{"or", "{{ value_json.a or value_json.b }}", `{"a":false,"b":true}`, "True"},
		{"parentheses", "{{ 'x' if (value_json.a == 1 or value_json.a == 2) else 'y' }}", `{"a":2}`, "x"},
		{"is defined", "{{ 'ON' if value_json.a is defined else 'OFF' }}", `{}`, "OFF"},
		{"is not defined", "{{ value_json.a is not defined }}", `{}`, "True"},
		{"if", ifElse, `{"value":"7821834"}`, "ON"},
		{"elif", ifElse, `{"value":"7821838"}`, "OFF"},
		{"else", ifElse, `{"value":"1","last":"on"}`, "ON"},
		{"marks that strip space, and a comment", "{%- if value == 'motion' -%} on {%- else -%} off {%- endif -%}{# why #}", "motion", "on"},
		{"another type", "{{ value_json.a == 'true' }}", `{"a":true}`, "False"},
	} {
		made, err := newTemplate(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, ok := made.render([]byte(c.message)); !ok || got != c.want {
			t.Errorf("%s: %q %t, want %q", c.name, got, ok, c.want)
		}
	}
}

func TestMessagesThatSayNothingOfASensor(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"{{ value_json.open | is_defined }}", `{"tempc":21}`},
		{"{{ value_json.open }}", `{"tempc":21}`},
		{"{{ value_json.open }}", "not JSON"},
		{"{{ value_json.open }}", `{"open":"yes"} and more`},
		{"{{ value_json }}", `{"open":true}`},
	} {
		made, err := newTemplate(c[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := made.render([]byte(c[1])); ok {
			t.Errorf("%s of %s: %q", c[0], c[1], got)
		}
	}
}

func TestTemplatesThatAreNotUnderstoodAreTold(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"{{ states('binary_sensor.x') }}", "{{ value_json.x | timestamp_local }}", "{% set x = 1 %}", "{{ value_json.x", "{% if value %}on",
		"{% endif %}", "{% if value %}a{% else %}b{% else %}c{% endif %}", "{{ value_json.a + 1 }}", "{{ 'a\\'b' }}", "{{ }}", "{{ value is none }}",
		"{{ \xc3 }}", "{{ ((((((((((((((((((value)))))))))))))))))) }}", string(make([]byte, maxTemplate)) + "x",
	} {
		if _, err := newTemplate(source); fault.KindOf(err) == 0 {
			t.Errorf("%.60q: %v", source, err)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("{{ value_json.occupancy }}", `{"occupancy":true}`)
	f.Add("{% if value_json['a'][0] | int >= 3 %}on{% elif not value %}x{% else %}off{% endif %}", `{"a":[4]}`)
	f.Add("{{ 'ON' if value_json.get('x') | default('y') == 'y' and value is defined else value | lower }}", "{}")
	f.Fuzz(func(t *testing.T, source, message string) {
		made, err := newTemplate(source)
		if err != nil {
			if fault.KindOf(err) == 0 {
				t.Fatalf("an error that tells nobody: %v", err)
			}
			return
		}
		first, ok := made.render([]byte(message))
		if second, again := made.render([]byte(message)); first != second || ok != again {
			t.Fatalf("%q %t, then %q %t", first, ok, second, again)
		}
	})
}
