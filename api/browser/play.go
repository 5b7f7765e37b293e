package browser

import (
	"context"
	"sync/atomic"

	"sensegate/api/auth"
	"sensegate/motion/fault"
)

// Stage is the simulated home of the demo. Its functions may be called concurrently.
type Stage struct {
	Walk      func()        // lets somebody walk through the home at once
	Unplug    func()        // takes the power from a node, or gives it back
	Unplugged func() string // the name of the node that has no power, "" for none
}

// Play is the demo that goes on, if one does. The zero Play is none. Its methods may be called
// concurrently.
type Play struct{ stage atomic.Pointer[Stage] }

// Begin says which home is played.
func (p *Play) Begin(s Stage) { p.stage.Store(&s) }

// on returns the home that is played, nil for none.
func (p *Play) on() *Stage {
	if p == nil {
		return nil
	}
	return p.stage.Load()
}

// unplugged returns the name of the node that has no power, "" for none.
func (p *Play) unplugged() string {
	if stage := p.on(); stage != nil {
		return stage.Unplugged()
	}
	return ""
}

type demoIn struct {
	Body struct {
		HomeField
		Action string `json:"action" enum:"walk,unplug" doc:"walk: somebody walks through the hallway to the kitchen; unplug: an extender loses its power, or has it again"`
	}
}

type demoOut struct {
	Body struct {
		Unplugged string `json:"unplugged" doc:"Name of the node that has no power; empty: none" example:"Office extender"`
	}
}

func (b *Browser) demo(_ context.Context, _ auth.Member, in *demoIn) (*demoOut, error) {
	stage := b.Play.on()
	switch {
	case stage == nil:
		return nil, fault.New(fault.NotFound, "no such address")
	case in.Body.Action == "walk":
		stage.Walk()
	default:
		stage.Unplug()
	}
	out := &demoOut{}
	out.Body.Unplugged = stage.Unplugged()
	return out, nil
}
