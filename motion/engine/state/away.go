package state

import (
	"cmp"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Close refuses the devices of a network that is about to go to another box, until Reopen or
// SetAway. Conflict: it is about to already.
func (st *State) Close(id motion.NetworkID) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closing[id] {
		return fault.New(fault.Conflict, "network %d: somebody else is just sending it to another box", id)
	}
	st.closing[id] = true
	return nil
}

// Reopen ends what Close has begun.
func (st *State) Reopen(id motion.NetworkID) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.closing, id)
}

// SetAway notes, after the commit, how a network is on its way to another box.
func (st *State) SetAway(h store.Handover) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.away[h.Network] = h
}

// ForgetAway forgets a network that was taken back, or whose copy was deleted.
func (st *State) ForgetAway(id motion.NetworkID) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.away, id)
}

// SetDeparted notes, after the commit, which networks were deleted after they had gone to other boxes.
func (st *State) SetDeparted(all []store.Departed) {
	to := map[string]string{}
	for _, one := range all {
		to[one.Guardian] = one.To
		for _, device := range one.Devices {
			to[device] = one.To
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.departed = to
}

// Departed returns where a device is to go whose network was deleted here after it had gone to another
// box, or that asks to join such a network by the id of its guardian; "": it is none.
func (st *State) Departed(device, guardian string) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return cmp.Or(st.departed[device], st.departed[guardian])
}

// IsSent reports whether a device is known to have been sent to the other box.
func (st *State) IsSent(id motion.NetworkID, device string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	_, sent := st.away[id].Sent[device]
	return sent
}

// Away returns how a network is on its way to another box. refuses reports whether its devices are
// refused, because it is, or is about to be; to is where they are to go then, "" for not yet.
func (st *State) Away(id motion.NetworkID) (to string, refuses bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	h, away := st.away[id]
	return h.To, away || st.closing[id]
}
