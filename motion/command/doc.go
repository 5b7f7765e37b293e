// Package command holds the rules of management commands: what a caller may ask
// a node to do, the states that a command goes through, and what follows for the
// commands that wait for it (interfaces.md 3 no. 1, payloads.md 4.13).
//
// It knows records, states, time-outs and chains of triggers. It must not read
// the clock, store, send, or know HTTP or MQTT: its caller gives it the time and
// who is online, stores what a Step changed, and sends what a Step says once
// that is stored. A command is nothing but its record, so that a restart changes
// nothing.
//
// # States
//
//	       execute
//	000 ────────────────┬──────────► 002
//	       trigger 2xx  │ offline     │ online
//	001 ────────────────┤             ▼
//	 │                  └──────────► 011 ──30 s──► … ──30 s──► 015 ──30 s──► 408
//	 │ trigger 4xx       online       │             │           │
//	 ▼                                └────── 100 ◄─┴───────────┘
//	the same 4xx                               │ 300 s
//	                                           ├──────► 408
//	                                           ▼
//	                                     2xx or 4xx, also straight from 01x
//
// From every state that is not final (2xx, 4xx) Cancel leads to 409. The next
// state is always greater as text than the one before: no command goes round in a
// circle, a final state is never left, and of two records of one command
// the one with the greater state is the later one.
//
// All values may be used concurrently as long as nobody writes to what they
// point to; no function here does.
package command
