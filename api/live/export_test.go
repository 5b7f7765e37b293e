package live

import (
	"time"
)

// ReadLimit is the largest message of a viewer in bytes.
const ReadLimit = readLimit

// SetPace sets the times of the connections to come.
func (l *Set) SetPace(ping, pong, write, close time.Duration) {
	l.pace = pace{ping: ping, pong: pong, write: write, close: close}
}

// Join counts a connection.
func (l *Set) Join(key, name string) (leave func(), err error) { return l.join(key, name) }

// Shares returns how many shares of viewers are counted.
func (l *Set) Shares() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.shares)
}
