package sensorcloud

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"sensegate/motion"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
)

// Play simulates sensors until ctx ends: at each step a random sensor of every account
// reports, a new account gets a hub with a sensor of each type, and another door sensor
// joins a hub in pairing mode. It passes a line on each to say, also concurrently.
func (s *Server) Play(ctx context.Context, step time.Duration, say func(string)) {
	s.OnPair(func(user, hub string) {
		s.Add(user, newThing(hub, sensor.Door))
		say(fmt.Sprintf("a sensor joins %s", hub))
	})
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, user := range s.Accounts() {
			things := s.things(user)
			if len(things) == 0 {
				s.furnish(user)
				say("a new account gets a hub with four sensors")
				continue
			}
			told := tell(things[rand.N(len(things))])
			s.Tell(user, told)
			say(fmt.Sprintf("%s tells %s", told.ThingName, told.Status))
		}
	}
}

// things returns the sensors of an account.
func (s *Server) things(user string) (list []cloud.Thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[user]
	if a == nil {
		return nil
	}
	for _, t := range a.things {
		if t.DeviceType != sensor.Hub {
			list = append(list, *t)
		}
	}
	return list
}

// furnish gives an account a hub and a sensor of each type.
func (s *Server) furnish(user string) {
	hub := newThing("", sensor.Hub)
	s.Add(user, hub)
	for _, kind := range sensor.Types() {
		if kind != sensor.Hub {
			s.Add(user, newThing(hub.ThingName, kind))
		}
	}
}

// newThing returns a thing with a random, locally administered address.
func newThing(hub string, kind sensor.Type) cloud.Thing {
	prefix := "SENSOR_"
	if kind == sensor.Hub {
		prefix = "HUB_"
	}
	online, battery := true, 100
	t := cloud.Thing{HubThingName: hub, DeviceType: kind}
	t.ThingName, t.TS, t.Online = fmt.Sprintf("%s02CC00FFFE%06X", prefix, rand.N(1<<24)), now(), &online
	if kind != sensor.Hub {
		t.BatteryLevel = &battery
	}
	if statuses := kind.Statuses(); len(statuses) > 0 {
		t.Status = statuses[0]
	}
	return t
}

// tell returns the next report of a sensor: another status, or a random temperature
// and humidity.
func tell(t cloud.Thing) cloud.Told {
	told := cloud.Told{ThingName: t.ThingName, TS: now()}
	for _, status := range t.DeviceType.Statuses() {
		if status != t.Status {
			told.Status = status
			return told
		}
	}
	temperature, humidity := 18+rand.Float64()*6, 40+rand.Float64()*20
	told.Temperature, told.Humidity = &temperature, &humidity
	return told
}

func now() motion.Time { return motion.TimeOf(time.Now()) }
