package homeassistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/peer"
)

// Commands of one connection: a person presses one, an automation in a loop must not wear out the
// disk or fill the audit log.
const (
	commandRate  = 0.5 // a second
	commandBurst = 10
)

// carryOut does what a message to a topic of commands asks. The answer is the state topic, which is
// told again also when nothing has changed: Home Assistant shows what holds.
func (r *run) carryOut(ctx context.Context, a asked) {
	below, _ := strings.CutSuffix(strings.TrimPrefix(a.topic, r.o.Base+"/"), "/set")
	delete(r.sent, r.o.Base+"/"+below)
	c, err := r.command(below, a.payload)
	if err == nil && r.limit.Take(struct{}{}, time.Now()) > 0 {
		err = fmt.Errorf("more than %d commands in %d s", commandBurst, int(commandBurst/commandRate))
	}
	if err == nil {
		c.User = a.user
		err = r.o.House.Do(ctx, c)
	}
	if err != nil {
		r.o.Log.Warn("command refused", "topic", shortened(a.topic), "err", err)
	}
}

// command reads a command from its topic below the base and its payload.
func (r *run) command(below, payload string) (Command, error) {
	network, name, of := strings.Cut(below, "/")
	if !of {
		if below == "restart" && payload == "PRESS" {
			return Command{Do: Restart}, nil
		}
		return Command{}, fmt.Errorf("the appliance can be asked for restart with PRESS alone, found %.20q", payload)
	}
	id, err := motion.ParseNetworkID(network)
	if err != nil || !slices.Contains(r.follower.Networks(), id) {
		return Command{}, fmt.Errorf("network %.20q is not known here", network)
	}
	r.touched = append(r.touched, id)
	words := commands[name]
	if name == "alarm" && !r.o.Alarm || words == nil {
		return Command{}, fmt.Errorf("%.20q cannot be set", name)
	}
	action, ok := words[payload]
	if !ok {
		return Command{}, fmt.Errorf("%s has no %.20q", name, payload)
	}
	return Command{Network: id, Do: action, Level: 1 + slices.Index(sensitivities, payload)}, nil
}

// commands are the actions by topic and payload.
var commands = map[string]map[string]Action{
	"scene":       {"home": SetHome, "away": SetAway},
	"alarm":       {"DISARM": SetHome, "ARM_AWAY": SetAway},
	"paused":      {"ON": Pause, "OFF": Resume},
	"sensitivity": {"high": SetSensitivity, "medium": SetSensitivity, "low": SetSensitivity, "very_low": SetSensitivity},
}

// newLimit limits the commands of a connection.
func newLimit() *peer.Buckets[struct{}] { return peer.NewBuckets[struct{}](commandRate, commandBurst) }
