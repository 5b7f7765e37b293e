package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/management"
	"sensegate/motion/fault"
	"sensegate/store"
)

// story is a random sequence of what can happen to commands.
type story struct {
	*box
	dice   *rand.Rand
	online map[motion.DeviceKey]bool
	states map[command.ID]command.State
	sends  map[command.ID]int
}

// No sequence of answers, disconnects, restarts and time leaves a command in a state
// that it cannot leave, sends it after its end, or sends it more than five times.
func TestNoStoryLeavesACommandStuck(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				s := &story{
					box: b, dice: rand.New(rand.NewPCG(seed, 1)),
					online: map[motion.DeviceKey]bool{guardianKey: true, masterKey: true, peerKey: true},
					states: map[command.ID]command.State{}, sends: map[command.ID]int{},
				}
				for range 80 {
					s.step()
					s.check()
				}
				s.end()
			})
		})
	}
}

// step lets one thing happen.
func (s *story) step() {
	switch s.dice.IntN(9) {
	case 0, 1:
		s.createSome()
	case 2:
		if id := s.any(); id != 0 {
			_, err := s.Commands.ChangeCommand(context.Background(), id, management.Execute)
			if kind := fault.KindOf(err); err != nil && kind != fault.Conflict {
				s.t.Fatal(err)
			}
		}
	case 3, 4:
		s.answer([]string{"100", "200", "404", "418"}[s.dice.IntN(4)])
	case 5:
		s.toggle([]motion.DeviceKey{masterKey, peerKey}[s.dice.IntN(2)])
	case 6:
		s.devices.deafen(peerKey, s.dice.IntN(2) == 0)
	case 7:
		time.Sleep(seconds(s.dice.Float64() * 60))
	case 8:
		if s.dice.IntN(3) == 0 {
			[]func(*box){(*box).stop, (*box).crash}[s.dice.IntN(2)](s.box)
			s.start()
			s.reconnect()
			s.online = map[motion.DeviceKey]bool{guardianKey: true, masterKey: true, peerKey: true}
		}
	}
	synctest.Wait()
}

// createSome stores a few commands, some of which wait for others.
func (s *story) createSome() {
	for range 1 + s.dice.IntN(4) {
		r := s.ping([]string{masterID, peerID}[s.dice.IntN(2)])
		r.ExecuteNow = s.dice.IntN(2) == 0
		if id := s.any(); id != 0 && s.dice.IntN(2) == 0 {
			r.TriggerID = command.Trigger(fmt.Sprint(id))
		}
		if _, err := s.Commands.CreateCommand(context.Background(), r, false); err != nil {
			s.t.Fatal(err)
		}
	}
}

// any returns some command that was seen, 0 for none.
func (s *story) any() command.ID {
	if len(s.states) == 0 {
		return 0
	}
	return command.ID(1 + s.dice.IntN(len(s.states)))
}

// answer says something about some command, whether its device has it or not.
func (s *story) answer(state string) {
	id := s.any()
	if id == 0 {
		return
	}
	key := masterKey
	if s.stored(id).NodeID == s.node(peerID) {
		key = peerKey
	}
	s.report(key, result(id, state))
}

// toggle lets a device go, or come back.
func (s *story) toggle(key motion.DeviceKey) {
	if s.online[key] = !s.online[key]; !s.online[key] {
		s.State.Disconnected(key, "gone")
		return
	}
	post := master()
	if key == peerKey {
		post = peer()
	}
	s.connect(key.ID, s.post(post, "").RadarToken)
}

// check compares every command and what was sent with what was before.
func (s *story) check() {
	s.t.Helper()
	for _, key := range []motion.DeviceKey{guardianKey, masterKey, peerKey} {
		for _, payload := range s.devices.commands(key, "manage") {
			id := idOf(s.t, payload)
			if s.sends[id]++; s.states[id].Final() || s.sends[id] > command.MaxAttempts {
				s.t.Fatalf("command %d, before in state %s, was sent for the %d. time", id, s.states[id], s.sends[id])
			}
		}
	}
	var list []command.Command
	s.view(func(tx *store.Tx) (err error) {
		list, err = tx.Commands(store.CommandQuery{Last: 1000})
		return err
	})
	for _, c := range list {
		before, known := s.states[c.ID]
		if known && (c.State < before || before.Final() && c.State != before) {
			s.t.Fatalf("%v was in state %s", c, before)
		}
		if s.sends[c.ID] > c.Attempts {
			s.t.Fatalf("%v was sent %d times and says %d", c, s.sends[c.ID], c.Attempts)
		}
		s.states[c.ID] = c.State
	}
}

// end starts what is pending, brings every device back and waits: all have ended
// then.
func (s *story) end() {
	s.t.Helper()
	s.devices.deafen(peerKey, false)
	for _, key := range []motion.DeviceKey{masterKey, peerKey} {
		if !s.online[key] {
			s.toggle(key)
		}
	}
	for id, state := range s.states {
		if state == command.Pending {
			if _, err := s.Commands.ChangeCommand(context.Background(), id, management.Execute); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for range 24 {
		time.Sleep(10 * time.Minute)
		s.check()
	}
	for id, state := range s.states {
		if !state.Final() {
			s.t.Errorf("command %d is left in state %s", id, state)
		}
	}
}
