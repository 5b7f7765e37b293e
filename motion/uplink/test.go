package uplink

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// TestStep is a step of a test of an uplink.
type TestStep struct {
	Step Step   `json:"step" enum:"reach,login,publish"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Code string `json:"code,omitempty" doc:"Of what went wrong, for programs; empty: it has none"`
}

// Tester is the Part of a service that can be tried.
type Tester interface {
	Test(ctx context.Context) []TestStep
}

// testLimit is how long a test takes at most.
const testLimit = 30 * time.Second

// Test tries a configuration: it connects with a client id of its own, publishes to <base>/test, and
// says what works, up to the first step that does not. Of an uplink of the same name that is there
// already, an empty password or key is the stored one. Invalid: its mistakes.
func (s *Set) Test(ctx context.Context, c Config) ([]TestStep, error) {
	if former, err := s.find(c.Name); err == nil {
		c = c.withSecretsOf(former.uplink.Config)
	}
	if err := invalid(errors.Join(c.Validate(), c.withoutFiles())); err != nil {
		return nil, err
	}
	return s.try(ctx, newUplink(c, s.box)), nil
}

// TestNamed is Test of an uplink that is there. NotFound: there is none.
func (s *Set) TestNamed(ctx context.Context, name string) ([]TestStep, error) {
	r, err := s.find(name)
	if err != nil {
		return nil, err
	}
	steps := s.try(ctx, r.uplink)
	if steps[len(steps)-1].OK { // what was wrong is mended
		select {
		case r.again <- struct{}{}:
		default:
		}
	}
	return steps, nil
}

// try is Test of a valid uplink.
func (s *Set) try(ctx context.Context, u Uplink) []TestStep {
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	switch {
	case u.IsService():
		if s.options.Service != nil {
			if tester, ok := s.options.Service(u).(Tester); ok {
				return tester.Test(ctx)
			}
		}
		return []TestStep{{Step: Reach, Text: "this program cannot try services"}}
	case u.Own():
		return []TestStep{{Step: Login, OK: s.options.Own != nil, Text: "this is the broker of this box: Home Assistant connects to it"}}
	}
	host, topic := u.Host(), u.Base+"/test"
	done := []TestStep{
		{Step: Reach, OK: true, Text: "there is a way to " + host},
		{Step: Login, OK: true, Text: host + " accepts the client"},
		{Step: Publish, OK: true, Text: fmt.Sprintf("%s acknowledged a message to %s", host, topic)},
	}
	failed := func(step Step, err error) []TestStep {
		var f *Failure
		if errors.As(err, &f) && f.Step != "" {
			step = f.Step
		}
		for i := range done {
			if done[i].Step == step {
				done[i] = TestStep{Step: step, Text: err.Error(), Code: CodeOf(err)}
				return done[:i+1]
			}
		}
		return done
	}
	conn, err := s.dial(ctx, u, "-test")
	if err != nil {
		return failed(Reach, err)
	}
	defer conn.Close()
	err = conn.Publish(ctx, Message{Topic: topic, Payload: []byte(`{"test":true}`), QoS: 1})
	if ended := conn.Err(); ended != nil {
		err = ended
	}
	if err != nil {
		return failed(Publish, err)
	}
	return done
}
