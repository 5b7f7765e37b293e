package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// changeable is find, of one that was made in the app. Conflict: it stands in the configuration.
func (s *Set) changeable(name string) (*runner, error) {
	r, err := s.find(name)
	if err == nil && r.origin != OfApp {
		err = fault.New(fault.Conflict, "uplink %s stands in the configuration: change it there", name)
	}
	return r, err
}

// check returns the mistakes of a configuration from the app as a fault.
func (s *Set) check(c Config, except string) error {
	err := errors.Join(c.Validate(), c.withoutFiles())
	if key, text := s.clashes(c, except); err == nil && key != "" {
		err = fmt.Errorf("%s: %s", key, text)
	}
	return invalid(err)
}

// Add stores a new uplink and starts it. Invalid: its mistakes. A ctx of store.Audited has its line
// written in the same transaction.
func (s *Set) Add(ctx context.Context, c Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.check(c, ""); err != nil {
		return err
	}
	return s.replace(ctx, nil, &c)
}

// Change replaces an uplink by another of the same name. An empty password or key stays what it was.
// NotFound, Conflict: it is not one of the app. Invalid: the mistakes.
func (s *Set) Change(ctx context.Context, name string, c Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	former, err := s.changeable(name)
	if err != nil {
		return err
	}
	c = c.withSecretsOf(former.uplink.Config)
	c.Name = name
	if err := s.check(c, name); err != nil {
		return err
	}
	return s.replace(ctx, former, &c)
}

// withSecretsOf keeps the password and the key where none are given, for as long as they are sent to
// the same broker.
func (c Config) withSecretsOf(former Config) Config {
	if !c.leadsWhere(former) {
		return c
	}
	if c.Password == "" && c.Username == former.Username {
		c.Password = former.Password
	}
	if c.ClientKey == "" && c.ClientCertificate == former.ClientCertificate {
		c.ClientKey = former.ClientKey
	}
	return c
}

// leadsWhere reports whether two lead to one address, whether or not their urls name its port.
func (c Config) leadsWhere(other Config) bool {
	a, wrong := c.address()
	b, wrongOther := other.address()
	if a == nil || b == nil || wrong != nil || wrongOther != nil {
		return c.URL == other.URL
	}
	return *a == *b
}

// Remove ends and forgets an uplink. NotFound, Conflict: it is not one of the app.
func (s *Set) Remove(ctx context.Context, name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	former, err := s.changeable(name)
	if err != nil {
		return err
	}
	return s.replace(ctx, former, nil)
}

// replace stores a change, ends the former uplink and starts the new one; either may be nil.
// s.changing is held.
func (s *Set) replace(ctx context.Context, former *runner, c *Config) error {
	runners := slices.DeleteFunc(s.list(), func(r *runner) bool { return r == former })
	all := make([]Config, len(runners))
	for i, r := range runners {
		all[i] = r.uplink.Config
	}
	err := s.options.DB.Update(ctx, func(tx *store.Tx) error {
		if c == nil {
			return tx.DeleteUplink(former.uplink.Name)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := tx.PutUplink(store.Uplink{Name: c.Name, Config: raw}); err != nil {
			return err
		}
		return s.settleCursors(tx, append(all, *c))
	})
	if err != nil {
		return err
	}
	if former != nil && former.stop != nil {
		former.stop()
		<-former.ended
		for _, part := range former.parts {
			if kept, ok := part.(interface{ Removed() }); ok {
				kept.Removed()
			}
		}
		s.leave(former, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c != nil {
		made := s.newRunner(*c, OfApp)
		if s.running != nil {
			s.start(made)
		}
		runners = append(runners, made)
		slices.SortStableFunc(runners, byOrigin)
	}
	s.runners = runners
	return nil
}

// HasSent returns nil when every uplink that carries the events of a network has sent them all.
// Conflict: one has not.
func (s *Set) HasSent(ctx context.Context, id motion.NetworkID) error {
	for _, r := range s.list() {
		for _, part := range r.parts {
			pump, ok := part.(*eventPump)
			if !ok || !r.uplink.Carries(id) {
				continue
			}
			waiting, err := pump.waiting(ctx, id)
			if err != nil {
				return err
			}
			if waiting > 0 {
				return fault.New(fault.Conflict, "uplink %s has still to send %d events of network %d: wait until it has (sensegate uplink list), or remove the uplink", r.uplink.Name, waiting, id)
			}
		}
	}
	return nil
}

// byOrigin orders those of the configuration first, as they stand there, and the others by name.
func byOrigin(a, b *runner) int {
	switch {
	case a.origin != b.origin:
		return strings.Compare(string(b.origin), string(a.origin)) // configuration, app
	case a.origin == OfConfiguration:
		return 0
	}
	return strings.Compare(a.uplink.Name, b.uplink.Name)
}

// settleCursors gives each uplink that wants events or history a cursor from now on, and forgets all
// others.
func (s *Set) settleCursors(tx *store.Tx, all []Config) error {
	names := map[string]bool{}
	for _, c := range all {
		if !c.Has(Events) && !c.Has(History) {
			continue
		}
		names[c.Name] = true
		cursor, _, err := tx.UplinkCursor(c.Name)
		if err != nil {
			return err
		}
		cursor.Name = c.Name
		if !c.Has(Events) {
			cursor.Events = nil
		} else if cursor.Events == nil {
			last, err := tx.LastEventNumber()
			if err != nil {
				return err
			}
			cursor.Events = &last
		}
		if !c.Has(History) {
			cursor.Minutes = 0
		} else if cursor.Minutes == 0 {
			cursor.Minutes = minuteOf(tx.Now())
		}
		if err := tx.PutUplinkCursor(cursor); err != nil {
			return err
		}
	}
	return tx.KeepUplinkCursors(names)
}
