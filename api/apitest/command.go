package apitest

import (
	"fmt"
	"net/url"
	"strings"
)

// request makes the call of a curl or websocat command, changes it, and runs it; or
// publishes the message of a mosquitto_pub command.
func (s *shell) request(command string, change func(*wanted)) (string, error) {
	c := wanted{method: "GET", header: map[string]string{}}
	if m := piped.FindStringSubmatch(command); m != nil {
		command, c.pick = m[1], strings.Trim(m[2], "'")
	}
	words, err := s.words(command)
	if err != nil {
		return "", err
	}
	switch {
	case len(words) == 0:
		return "", fmt.Errorf("no command")
	case words[0] == "mosquitto_pub":
		return "", s.tell(words[1:])
	case words[0] != "curl" && words[0] != "websocat":
		return "", fmt.Errorf("neither curl, websocat nor mosquitto_pub")
	}
	c.websocket = words[0] == "websocat"
	if err := c.read(words[1:]); err != nil {
		return "", err
	}
	change(&c)
	picked, err := s.run(c)
	if err == nil && c.assign != "" {
		s.variables[c.assign] = picked
	}
	return picked, err
}

// read takes the words of a curl or websocat command.
func (c *wanted) read(words []string) error {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "-") {
			if c.url != "" {
				return fmt.Errorf("two URLs: %s and %s", c.url, word)
			}
			c.url = word
			continue
		}
		if word == "-s" {
			continue
		}
		if i++; i == len(words) {
			return fmt.Errorf("%s needs something", word)
		}
		if err := c.option(strings.TrimPrefix(word, "-s"), words[i]); err != nil {
			return err
		}
	}
	return nil
}

// option takes an option with its argument.
func (c *wanted) option(name, argument string) error {
	switch name {
	case "-X", "X":
		c.method = argument
	case "-H", "H":
		header, text, _ := strings.Cut(argument, ": ")
		c.header[header] = text
	case "--json":
		c.send(argument, "application/json")
	case "-d", "d":
		c.add(argument)
	case "--data-urlencode":
		field, text, _ := strings.Cut(argument, "=")
		c.add(field + "=" + url.QueryEscape(text))
	case "-o", "o": // the body, which is then not shown
		if argument == "" {
			return fmt.Errorf("-o needs a file")
		}
	case "-w", "w":
		c.write = argument
	default:
		return fmt.Errorf("option %s is not understood", name)
	}
	return nil
}

// add adds a field to a form.
func (c *wanted) add(field string) {
	if c.body != "" {
		field = c.body + "&" + field
	}
	c.send(field, "application/x-www-form-urlencoded")
}

func (c *wanted) send(body, media string) {
	c.body, c.header["Content-Type"] = body, media
	if c.method == "GET" {
		c.method = "POST"
	}
}

// tell publishes the message of a mosquitto_pub command.
func (s *shell) tell(words []string) error {
	var user, password, topic, payload string
	into := map[string]*string{"-u": &user, "-P": &password, "-t": &topic, "-m": &payload}
	for i := 0; i+1 < len(words); i += 2 {
		if into[words[i]] == nil {
			return fmt.Errorf("option %s is not understood", words[i])
		}
		*into[words[i]] = words[i+1]
	}
	return s.publish(user, password, topic, payload)
}
