package core

import (
	"sensegate/motion/engine/inventory"
)

// network writes the network record of a state; its nodes only on demand.
func (w *jsonWriter) network(s *inventory.NetworkState, nodes bool) {
	w.integer(`{"id":`, int64(s.ID))
	w.text(`,"guardian_id":`, s.GuardianID)
	w.integer(`,"master_id":`, int64(s.MasterID))
	w.number(`,"created_at":`, float64(s.CreatedAt))
	w.number(`,"updated_at":`, float64(s.UpdatedAt))
	w.number(`,"last_heard":`, float64(s.LastHeard))
	w.bool(`,"online":`, s.Online)
	w.raw(`,"meta":`)
	w.out = append(w.out, s.MetaJSON...)
	w.raw(`,"guardian_config":`)
	w.out = append(w.out, s.GuardianJSON...)
	w.raw(`,"radar_config":`)
	w.out = append(w.out, s.RadarJSON...)
	if s.Status == nil {
		w.raw(`,"last_guardian_status":null`)
	} else {
		w.escapeHTML = true
		w.report(`,"last_guardian_status":`, s.Status)
		w.escapeHTML = false
	}
	if nodes && s.Nodes != nil {
		w.other(`,"nodes":`, s.Nodes)
	}
	w.raw("}")
}

// networkPiece is how many bytes of an answer with networks are sent at a time, or a little more.
const networkPiece = 64 << 10

// networksJSON returns so many networks in the form of an [api.OneOrMany].
func networksJSON(count int, at func(int) inventory.NetworkState, form Form) func(yield func(piece []byte) bool) {
	return func(yield func(piece []byte) bool) {
		var w jsonWriter
		lead, end := "", "\n"
		if form.Array || count != 1 {
			lead, end = "[", "]\n"
		}
		for i := range count {
			if len(w.out) >= networkPiece {
				if !yield(w.out) {
					return
				}
				w.out = w.out[:0]
			}
			s := at(i)
			w.raw(lead)
			w.network(&s, form.ExpandNodes)
			lead = ","
		}
		w.raw(end)
		yield(w.out)
	}
}

// networkJSON returns one network in the form of an [api.OneOrMany].
func networkJSON(s inventory.NetworkState, form Form) func(yield func(piece []byte) bool) {
	return networksJSON(1, func(int) inventory.NetworkState { return s }, form)
}
