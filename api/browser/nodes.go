package browser

import "sensegate/motion"

// NodeView is what arrives of a node of another maker. What is null wavers with what happens at home, and is kept from
// who must not learn when somebody is there.
type NodeView struct {
	Kind          motion.NodeKind     `json:"kind" doc:"What it speaks: ruview, micro-espectre, espectre, lines, nexmon or mqtt" example:"ruview"`
	Authenticated bool                `json:"authenticated" doc:"It shows a password of its own; of others anybody on the Wi-Fi can send in their name"`
	Rate          *float64            `json:"rate" nullable:"true" doc:"Frames a second that arrive, or of one that decides about motion itself messages" example:"19.8"`
	Used          *float64            `json:"used" nullable:"true" doc:"Of them, those that motion is sensed from, a second" example:"12.4"`
	Lengths       []NodeLength        `json:"lengths" nullable:"true" doc:"The most frequent first; empty: of one that decides itself"`
	Transmitters  []NodeTransmitter   `json:"transmitters" nullable:"true" doc:"Whose frames it measures, the most frequent first; empty: it does not tell"`
	Advice        []motion.NodeAdvice `json:"advice" nullable:"false" doc:"Codes of what stands in the way, the most important first: nothing_arrives, second_source, same_again, no_transmitter, many_transmitters, too_fast, no_mac"`
}

// NodeLength is how many frames of a node have a length.
type NodeLength struct {
	Bytes int     `json:"bytes" doc:"Of the channel state" example:"128"`
	Share float64 `json:"share" minimum:"0" maximum:"1" example:"0.78"`
}

// NodeTransmitter is how many frames of a node a transmitter has sent.
type NodeTransmitter struct {
	MAC   motion.MAC `json:"mac" example:"a4:2b:b0:c1:d2:e3"`
	Share float64    `json:"share" minimum:"0" maximum:"1" example:"0.62"`
	Used  bool       `json:"used" doc:"Motion is sensed from its frames"`
}

// nodeView returns what is known of a node of another maker. Figures that are Guarded are null.
func nodeView(deviceID string, f motion.NodeFigures) *NodeView {
	v := &NodeView{Kind: f.Kind, Authenticated: motion.Authenticated(deviceID), Advice: append([]motion.NodeAdvice{}, f.Advice...)}
	if f.Lengths == nil {
		return v
	}
	v.Rate, v.Used, v.Lengths, v.Transmitters = &f.Rate, &f.Used, []NodeLength{}, []NodeTransmitter{}
	for _, l := range f.Lengths {
		v.Lengths = append(v.Lengths, NodeLength(l))
	}
	for _, t := range f.Transmitters {
		v.Transmitters = append(v.Transmitters, NodeTransmitter{t.MAC, t.Share, t.Used})
	}
	return v
}

// boxIntake is what arrives where nodes of other makers are listened for.
type boxIntake struct {
	Kind    motion.NodeKind `json:"kind" doc:"As of node" example:"ruview"`
	At      string          `json:"at" doc:"Where it listens or reads" example:"udp :5005"`
	State   string          `json:"state" doc:"What is the matter, in words; empty: it works" example:""`
	Arrived int             `json:"arrived" doc:"Messages since the start" example:"184000"`
	Frames  int             `json:"frames" doc:"Of them, those with channel state" example:"180000"`
	Other   int             `json:"other" doc:"Messages of such nodes without channel state" example:"3600"`
	Wrong   int             `json:"wrong" doc:"Messages of no known form" example:"0"`
	Foreign int             `json:"foreign" doc:"Messages from outside the networks that this box is connected to" example:"0"`
	Limited int             `json:"limited" doc:"Messages beyond the rates that strangers and nodes may have" example:"0"`
}

// boxIntakes returns intakes with the figures of households rounded.
func boxIntakes(list []motion.IntakeFigures) []boxIntake {
	shown := []boxIntake{}
	for _, i := range list {
		shown = append(shown, boxIntake{
			Kind: i.Kind, At: i.At, State: i.State, Arrived: rounded(int(i.Arrived)), Frames: rounded(int(i.Frames)), Other: rounded(int(i.Other)),
			Wrong: int(i.Wrong), Foreign: int(i.Foreign), Limited: int(i.Limited),
		})
	}
	return shown
}
