package core

import "sensegate/motion/jsonwriter"

// networkPiece is how many bytes of an answer with networks are sent at a time, or a little more.
const networkPiece = 64 << 10

// networksJSON returns so many networks in the form of an [api.OneOrMany]; array asks for an array for one too.
func networksJSON(count int, array bool, write func(w *jsonwriter.Writer, i int)) func(yield func(piece []byte) bool) {
	return func(yield func(piece []byte) bool) {
		var w jsonwriter.Writer
		lead, end := "", "\n"
		if array || count != 1 {
			lead, end = "[", "]\n"
		}
		for i := range count {
			if len(w.Out) >= networkPiece {
				if !yield(w.Out) {
					return
				}
				w.Out = w.Out[:0]
			}
			w.Raw(lead)
			write(&w, i)
			lead = ","
		}
		w.Raw(end)
		yield(w.Out)
	}
}
