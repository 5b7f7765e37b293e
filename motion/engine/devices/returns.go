package devices

import (
	"sync"

	"sensegate/motion"
)

// returns says which returns of devices are worth an event: of each device one an hour,
// and every one that comes in another way or from another address.
type returns struct {
	mu   sync.Mutex
	last map[motion.DeviceKey]comeback
}

// comeback is the last return of a device that had an event.
type comeback struct {
	how     how
	address string
	at      motion.Time
}

// note reports whether a return is worth an event.
func (r *returns) note(key motion.DeviceKey, how how, address string, now motion.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.last[key]
	passed := now.Since(last.at)
	if known && last.how == how && last.address == address && passed >= 0 && passed < refusalHour {
		return false
	}
	r.last[key] = comeback{how: how, address: address, at: now}
	return true
}

// forget forgets a device that was removed.
func (r *returns) forget(key motion.DeviceKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, key)
}
