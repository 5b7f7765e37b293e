package uplink

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
)

// Phase is how an uplink is.
type Phase string

// The phases.
const (
	Connecting Phase = "connecting"
	Connected  Phase = "connected"
	Waiting    Phase = "waiting" // for the next try
)

// Origin is where an uplink comes from.
type Origin string

// The origins.
const (
	OfConfiguration Origin = "configuration" // it can be changed there alone
	OfApp           Origin = "app"
)

// State is an uplink with how it is.
type State struct {
	Config      Config      `json:"config"` // without password and key
	HasPassword bool        `json:"has_password"`
	HasKey      bool        `json:"has_key"`
	Origin      Origin      `json:"origin" enum:"configuration,app"`
	Base        string      `json:"base" doc:"What its topics begin with"`
	Host        string      `json:"host" doc:"Who it leads to"`
	Sends       string      `json:"sends" doc:"What it sends to whom, in words"`
	Phase       Phase       `json:"phase" enum:"connecting,connected,waiting"`
	Since       motion.Time `json:"since"`
	NextTry     motion.Time `json:"next_try,omitzero" doc:"While it waits"`
	Error       string      `json:"error,omitempty" doc:"The last failure, in words; empty while all is well"`
	ErrorCode   string      `json:"error_code,omitempty" doc:"Of the failure, for programs; empty: it has none"`
	ErrorAt     motion.Time `json:"error_at,omitzero"`
	Report
}

// Report is what an uplink, or a part of one, has done since the start.
type Report struct {
	Queue    int    `json:"queue" doc:"Messages that wait: events to be sent, live frames, messages without acknowledgement"`
	Sent     uint64 `json:"sent" doc:"Messages that were sent, at QoS 1 acknowledged"`
	Dropped  uint64 `json:"dropped" doc:"Live frames that were not sent"`
	Failures uint64 `json:"failures" doc:"Failed or lost connections"`
	Refused  uint64 `json:"refused" doc:"Messages of the broker that were not read: too long, too many or not understood"`
	Events   uint64 `json:"events" doc:"Events that were sent and acknowledged"`
	Rejected uint64 `json:"rejected" doc:"Samples that a receiver of Remote Write did not take"`
	Missing  uint64 `json:"missing" doc:"Events that were no longer kept when it was their turn"`
	Trouble  string `json:"-"` // what is wrong while the connection stands, in words
}

// Reporter is a Part that counts. Its report is added to that of its uplink.
type Reporter interface{ Report() Report }

// add adds what a part has counted.
func (r *Report) add(other Report) {
	r.Queue += other.Queue
	r.Sent += other.Sent
	r.Dropped += other.Dropped
	r.Failures += other.Failures
	r.Refused += other.Refused
	r.Events += other.Events
	r.Missing += other.Missing
	r.Rejected += other.Rejected
	if r.Trouble == "" {
		r.Trouble = other.Trouble
	}
}

// status is the changing part of a State.
type status struct {
	mu       sync.Mutex
	phase    Phase
	since    time.Time
	next     time.Time
	err      string // "" while it is connected
	code     string // of err
	last     string // the last failure
	errAt    time.Time
	failures uint64
	former   Traffic    // of the connections that have ended
	conn     Connection // the present one, nil for none
}

// turn sets the phase.
func (s *status) turn(p Phase, next time.Time, conn Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != p {
		s.phase, s.since = p, time.Now()
	}
	if s.conn != nil && conn == nil {
		s.former = sum(s.former, s.conn.Traffic())
		s.former.Queue = 0
	}
	s.next, s.conn = next, conn
	if p == Connected {
		s.err, s.code = "", ""
	}
}

// fail notes a failure and returns the one before.
func (s *status) fail(err error) (former string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	former = s.last
	s.err, s.last, s.errAt, s.code = err.Error(), err.Error(), time.Now(), CodeOf(err)
	return former
}

func sum(a, b Traffic) Traffic {
	return Traffic{Sent: a.Sent + b.Sent, Dropped: a.Dropped + b.Dropped, Refused: a.Refused + b.Refused, Queue: a.Queue + b.Queue}
}

// write fills a State in.
func (s *status) write(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state.Phase, state.Since, state.Error = s.phase, motion.TimeOf(s.since), s.err
	state.ErrorCode = s.code
	if s.phase == Waiting && !s.next.IsZero() {
		state.NextTry = motion.TimeOf(s.next)
	}
	if !s.errAt.IsZero() {
		state.ErrorAt = motion.TimeOf(s.errAt)
	}
	all := s.former
	if s.conn != nil {
		all = sum(all, s.conn.Traffic())
	}
	state.add(Report{Sent: all.Sent, Dropped: all.Dropped, Refused: all.Refused, Queue: all.Queue, Failures: s.failures})
}

// useWords says what a use sends.
var useWords = map[Use]string{
	HomeAssistant: "entities for Home Assistant", Events: "events", History: "motion of each minute",
	Commands: "answers to Core requests", Live: "live motion when it is asked for",
}

// sends says what an uplink sends to whom.
func (c Config) sends() string {
	var what []string
	for _, use := range Uses() {
		if c.Has(use) {
			what = append(what, useWords[use])
		}
	}
	return strings.Join(what, ", ") + " of " + c.networkWords() + " to " + c.Host()
}

func (c Config) networkWords() string {
	if len(c.Networks) == 0 {
		return "all networks"
	}
	ids := make([]string, len(c.Networks))
	for i, id := range c.Networks {
		ids[i] = fmt.Sprint(id)
	}
	if len(ids) == 1 {
		return "network " + ids[0]
	}
	return "networks " + strings.Join(ids, ", ")
}
