// Package command implements the rules of management commands: what a caller may request of a
// node, the states of a command, and the effects on commands that wait for it (interfaces.md 3
// no. 1, payloads.md 4.13).
//
// It knows records, states, time-outs and chains of triggers. It must not read the clock,
// store, send, or know HTTP or MQTT: the caller supplies the time and who is online, stores
// the changes of a Step, and then sends what the Step requires. A command has no state besides
// its record, so a restart changes nothing.
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
// Cancel leads from every state that is not final (2xx, 4xx) to 409. Each state sorts after
// the one before as text, so there are no cycles, a final state is never left, and of two
// records of one command the one with the greater state is later.
//
// All values may be used concurrently as long as nobody writes to what they point to; no
// function of this package does.
package command
