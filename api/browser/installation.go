package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"

	"sensegate/api/auth"
	"sensegate/api/live"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
	"sensegate/store"
)

// Installation is a message about a home that is set up: what has changed since the one before, and in
// the first one everything.
type Installation struct {
	TS      motion.Time `json:"ts"`
	Devices *setupState `json:"devices,omitempty"` // and the adoption window
	Links   *[]LinkView `json:"links,omitempty"`
	Walk    *WalkTest   `json:"walk,omitempty"`
	Live    []LiveLink  `json:"live,omitempty"` // while a walk test runs, in each message
}

// LiveLink is how a link is now.
type LiveLink struct {
	ID        string  `json:"id"`
	Room      string  `json:"room"`
	Value     float64 `json:"value"`     // in the scale below
	Threshold float64 `json:"threshold"` // from where on it starts motion
	Scale     string  `json:"scale"`     // coherence or power, as of WalkLink
	Moves     bool    `json:"moves"`
}

// The pace of an installation's stream.
const (
	installationPace  = 500 * time.Millisecond // between two looks
	installationAnew  = 20                     // looks after which figures that change all the time are sent
	installationQueue = 4                      // messages that a reader may be behind
)

// installationFeed looks at a home for one reader. Its goroutine ends with Close.
type installationFeed struct {
	*feed.Subscription[struct{}, []byte] // of its only reader; it ends when that falls behind or may not see the home any more

	hub     feed.Hub[struct{}, []byte]
	browser *Browser
	who     auth.Installer
	cancel  context.CancelFunc
	done    chan struct{}

	looks int
	sent  map[string][]byte // what was sent of each part, without figures that change all the time
}

// installation streams how the devices and links of a home are while somebody sets it up.
func (b *Browser) installation(ctx context.Context, who auth.Installer, _ *SetupQuery) (*live.Stream, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the request
	f := &installationFeed{browser: b, who: who, cancel: cancel, done: make(chan struct{}), sent: map[string][]byte{}}
	f.Subscription = f.hub.Subscribe(struct{}{}, installationQueue)
	first, err := f.look(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	go f.run(ctx)
	return live.NewStream(live.NetworkKey(who.Network), f, func(raw []byte) (*live.Frame, error) {
		p := live.Prepare(raw)
		return p.Frame, p.Err
	}, first).UntilGone(), nil
}

// Close ends the looking and waits for that.
func (f *installationFeed) Close() {
	f.cancel()
	<-f.done
}

// run looks at the home until the feed is closed.
func (f *installationFeed) run(ctx context.Context) {
	defer close(f.done)
	defer f.hub.End(struct{}{})
	ticker := time.NewTicker(installationPace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var message []byte
		err := f.browser.Engine.State.Contained.Run("look at an installation", func() (err error) {
			message, err = f.look(ctx)
			return err
		})
		if fault.KindOf(err) == fault.NotFound {
			return
		}
		if err != nil || message == nil {
			continue // it is shown again when the database answers
		}
		if f.hub.Publish(struct{}{}, message); f.Behind() {
			return
		}
	}
}

// look returns a message about what has changed, nil for nothing. NotFound: the reader may not see the
// home any more.
func (f *installationFeed) look(ctx context.Context) ([]byte, error) {
	b := f.browser
	who, err := b.stillSetsUp(ctx, f.who)
	if err != nil {
		return nil, err
	}
	devices, err := b.setupState(ctx, who)
	if err != nil {
		return nil, err
	}
	links, err := b.linkViews(ctx, who)
	if err != nil {
		return nil, err
	}
	test, err := b.walkTest(ctx, who, nil)
	if err != nil {
		return nil, err
	}
	m := Installation{TS: devices.TS, Live: []LiveLink{}}
	if f.looks++; f.looks%installationAnew == 0 {
		clear(f.sent)
	}
	if f.changed("devices", steadyDevices(devices)) {
		m.Devices = &devices
	}
	if f.changed("links", steadyLinks(links)) {
		m.Links = &links
	}
	if f.changed("walk", test.Body) {
		m.Walk = &test.Body
	}
	if test.Body.Running {
		if m.Live, err = b.liveLinks(ctx, who); err != nil {
			return nil, err
		}
	}
	if m.Devices == nil && m.Links == nil && m.Walk == nil && len(m.Live) == 0 {
		return nil, nil
	}
	return json.Marshal(m)
}

// changed reports whether a part differs from what was sent last, and notes it as sent.
func (f *installationFeed) changed(part string, value any) bool {
	raw, err := json.Marshal(value)
	if err != nil || bytes.Equal(raw, f.sent[part]) {
		return false
	}
	f.sent[part] = raw
	return true
}

// stillSetsUp returns who as they are now: an owner may have become an installer. NotFound: they are
// neither.
func (b *Browser) stillSetsUp(ctx context.Context, who auth.Installer) (auth.Installer, error) {
	err := b.DB.View(ctx, func(tx *store.Tx) error {
		membership, member, err := tx.MembershipOf(who.Home, who.ID)
		if err != nil {
			return err
		}
		h, err := tx.Home(who.Home)
		if err != nil {
			return err
		}
		who.Role = ""
		if _, installs := h.InstallerOf(who.ID, tx.Now()); installs {
			return nil
		}
		if member {
			who.Role = membership.Role
			_, err := who.Own()
			return err
		}
		return fault.New(fault.NotFound, "network %d is not known", who.Home)
	})
	if fault.KindOf(err) == fault.Forbidden {
		err = fault.New(fault.NotFound, "network %d is not known", who.Home)
	}
	return who, err
}

// liveLinks returns how the links are now.
func (b *Browser) liveLinks(ctx context.Context, who auth.Installer) ([]LiveLink, error) {
	links, err := b.Household.WalkLive(ctx, who.Network, viewer(who))
	list := make([]LiveLink, 0, len(links))
	for _, l := range links {
		list = append(list, LiveLink{
			ID: l.Name, Room: l.Room, Value: motion.Round(l.Value, 2), Threshold: motion.Round(l.Threshold, 2), Scale: sensing.Level{ByPower: l.ByPower}.Scale(), Moves: l.Moves,
		})
	}
	return list, err
}

// steadyDevices returns devices without what changes all the time.
func steadyDevices(s setupState) setupState {
	s.TS = 0
	list := make([]DeviceView, len(s.Devices))
	for i, d := range s.Devices {
		d.Heard, d.Rate, d.RSSI = nil, whole(d.Rate), nil
		d.Figures = nil
		if d.Node != nil {
			steady := *d.Node
			steady.Rate, steady.Used, steady.Lengths, steady.Transmitters = whole(steady.Rate), whole(steady.Used), nil, nil
			d.Node = &steady
		}
		list[i] = d
	}
	s.Devices = list
	return s
}

// steadyLinks returns links without what changes all the time.
func steadyLinks(links []LinkView) []LinkView {
	list := make([]LinkView, len(links))
	for i, l := range links {
		l.Heard, l.LastMotion, l.RSSI, l.Amplitude, l.Missing, l.Rate, l.Threshold = nil, nil, nil, nil, nil, whole(l.Rate), nil
		l.Why = append([]LinkReason{}, l.Why...)
		for k := range l.Why {
			l.Why[k].Figures = nil
		}
		list[i] = l
	}
	return list
}

// whole returns a figure to the nearest five: rates waver.
func whole(v *float64) *float64 {
	if v == nil {
		return nil
	}
	rounded := 5 * math.Round(*v/5)
	return &rounded
}
