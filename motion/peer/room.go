package peer

import (
	"container/list"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Errors of [Room.Enter].
var (
	ErrFull        = errors.New("too many connections are open, and none of them is silent")
	ErrAddressFull = errors.New("too many connections of this address or its network are open, and none of them is silent")
)

// Limits are those of a [Room].
type Limits struct {
	Connections   int  // open at once
	Reserve       int  // open beyond these, from loopback
	PerAddress    int  // open at once from one address, [Share] times as many from an IPv6 /64
	LimitLoopback bool // PerAddress is for loopback too, and it has no reserve
}

// Room is the room for the connections of listeners that share limits. Whoever says
// nothing keeps nobody out: when there is no room for another connection, the one that
// has been silent for longest gives way, of those of the same address or network when
// it is their share that is used up. Loopback is exempt from PerAddress, since a proxy
// on the appliance connects for everybody, and gives way to loopback alone. All methods
// may be called concurrently.
type Room struct {
	limits  Limits
	gaveWay atomic.Uint64

	mu      sync.Mutex
	open    int
	address map[netip.Addr]int   // of those that PerAddress is for
	network map[netip.Prefix]int // the same, by Network
	silent  list.List            // of *Place, the one that has been silent for longest first
}

// NewRoom returns an empty room.
func NewRoom(limits Limits) *Room {
	return &Room{limits: limits, address: map[netip.Addr]int{}, network: map[netip.Prefix]int{}}
}

// Place is the place of one connection, between [Room.Enter] and [Place.Leave].
type Place struct {
	room    *Room
	from    netip.Addr
	local   bool // exempt from PerAddress
	giveWay func()

	in     bool          // guarded by Room.mu, as what follows
	silent *list.Element // nil: it does not give way
}

// Place returns the place of a connection from an address. giveWay has to end the
// connection and must not wait; it is called at most once, by any goroutine.
func (r *Room) Place(from netip.Addr, giveWay func()) *Place {
	from = from.Unmap().WithZone("")
	return &Place{room: r, from: from, local: from.IsLoopback() && !r.limits.LimitLoopback, giveWay: giveWay}
}

// Enter counts a connection, which is silent at first, or returns ErrFull or
// ErrAddressFull when it may not stay.
func (r *Room) Enter(p *Place) error {
	leaving, err := r.enter(p)
	for _, silent := range leaving {
		r.gaveWay.Add(1)
		silent.giveWay()
	}
	return err
}

// enter is Enter; it returns those that have to give way.
func (r *Room) enter(p *Place) (leaving []*Place, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		rival, err := r.full(p)
		if err == nil {
			break
		}
		oldest := r.oldest(rival)
		if oldest == nil {
			return leaving, err
		}
		oldest.leave()
		leaving = append(leaving, oldest)
	}
	r.open++
	if !p.local {
		r.address[p.from]++
		r.network[Network(p.from)]++
	}
	p.in, p.silent = true, r.silent.PushBack(p)
	return leaving, nil
}

// full says whether there is no room for a connection, and which others are rivals for
// its room; mu is held.
func (r *Room) full(p *Place) (rival func(*Place) bool, err error) {
	most := r.limits.Connections
	if p.local {
		most += r.limits.Reserve
	}
	switch {
	case !p.local && r.address[p.from] >= r.limits.PerAddress:
		return func(other *Place) bool { return other.from == p.from }, ErrAddressFull
	case !p.local && r.network[Network(p.from)] >= Share*r.limits.PerAddress:
		return func(other *Place) bool { return Network(other.from) == Network(p.from) }, ErrAddressFull
	case r.open >= most:
		return func(other *Place) bool { return p.local || !other.local }, ErrFull
	}
	return nil, nil
}

// oldest returns the rival that has been silent for longest, nil when none is silent; mu
// is held.
func (r *Room) oldest(rival func(*Place) bool) *Place {
	for e := r.silent.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Place); rival(p) {
			return p
		}
	}
	return nil
}

// GaveWay returns how many connections gave way to others.
func (r *Room) GaveWay() uint64 { return r.gaveWay.Load() }

// Busy says that the other end has shown what it is here for: it does not give way.
func (p *Place) Busy() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.silent != nil {
		p.room.silent.Remove(p.silent)
		p.silent = nil
	}
}

// Silent says that the other end has nothing to say any more, for now.
func (p *Place) Silent() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.in && p.silent == nil {
		p.silent = p.room.silent.PushBack(p)
	}
}

// Leave gives the place back; it may be called again.
func (p *Place) Leave() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	p.leave()
}

// leave is Leave; the room's mu is held.
func (p *Place) leave() {
	if !p.in {
		return
	}
	p.in = false
	if p.silent != nil {
		p.room.silent.Remove(p.silent)
		p.silent = nil
	}
	p.room.open--
	if !p.local {
		decrement(p.room.address, p.from)
		decrement(p.room.network, Network(p.from))
	}
}

// decrement keeps no counts of 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
