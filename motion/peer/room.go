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

// Limits are the limits of a [Room].
type Limits struct {
	Connections   int  // open at once
	Reserve       int  // additional ones from loopback
	PerAddress    int  // open at once from one address; [Share] times as many from an IPv6 /64
	LimitLoopback bool // PerAddress applies to loopback too, which has no reserve
}

// Room limits the open connections of listeners that share it. When the room is full, a new
// connection evicts the one that has been silent longest; when an address or network has
// reached its limit, the longest silent of that address or network. Loopback is exempt from
// PerAddress, because a proxy on the appliance connects for everybody, and only loopback
// evicts loopback. All methods may be called concurrently.
type Room struct {
	limits  Limits
	gaveWay atomic.Uint64

	mu      sync.Mutex
	open    int
	address map[netip.Addr]int   // connections that PerAddress limits
	network map[netip.Prefix]int // the same, by Network
	silent  list.List            // of *Place, longest silent first
}

// NewRoom returns an empty room.
func NewRoom(limits Limits) *Room {
	return &Room{limits: limits, address: map[netip.Addr]int{}, network: map[netip.Prefix]int{}}
}

// Place is one connection in a room, from [Room.Enter] to [Place.Leave]. All methods may be
// called concurrently.
type Place struct {
	room    *Room
	from    netip.Addr
	local   bool // exempt from PerAddress
	giveWay func()

	in     bool          // guarded by Room.mu, like silent
	silent *list.Element // nil: not evictable
}

// Place returns the place of a connection from an address. giveWay must end the connection
// without blocking; it is called at most once, from any goroutine.
func (r *Room) Place(from netip.Addr, giveWay func()) *Place {
	from = from.Unmap().WithZone("")
	return &Place{room: r, from: from, local: from.IsLoopback() && !r.limits.LimitLoopback, giveWay: giveWay}
}

// Enter admits a connection, which is silent at first. It returns ErrFull or ErrAddressFull
// when no connection can be evicted.
func (r *Room) Enter(p *Place) error {
	leaving, err := r.enter(p)
	for _, silent := range leaving {
		r.gaveWay.Add(1)
		silent.giveWay()
	}
	return err
}

// enter is Enter without the calls of giveWay; it returns the evicted connections.
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

// full returns an error if there is no room for a connection, and which others it may evict;
// mu is held.
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

// oldest returns the rival that has been silent longest, or nil; mu is held.
func (r *Room) oldest(rival func(*Place) bool) *Place {
	for e := r.silent.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Place); rival(p) {
			return p
		}
	}
	return nil
}

// GaveWay returns the number of evicted connections.
func (r *Room) GaveWay() uint64 { return r.gaveWay.Load() }

// Busy marks the connection as busy: it cannot be evicted.
func (p *Place) Busy() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.silent != nil {
		p.room.silent.Remove(p.silent)
		p.silent = nil
	}
}

// Silent marks the connection as silent from now on: it can be evicted.
func (p *Place) Silent() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.in && p.silent == nil {
		p.silent = p.room.silent.PushBack(p)
	}
}

// Leave removes the connection from the room. Repeated calls have no effect.
func (p *Place) Leave() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	p.leave()
}

// leave is Leave with the room's mu held.
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

// decrement decrements a count and deletes it at 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
