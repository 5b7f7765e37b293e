package api

import "sync"

// sent are texts of long answers that have been sent, for the next ones: a week of points takes up to
// 2 MB, and new memory for each costs about as much time as writing it.
var sent sync.Pool // *[]byte

// Appended returns a body that fn appends to the dst it gets, with the error of fn. The bytes must be the
// answer's alone: they are overwritten once it is sent.
func Appended[T any](fn func(dst []byte) ([]byte, error)) (Pieces[T], error) {
	text, ok := sent.Get().(*[]byte)
	if !ok {
		text = new([]byte)
	}
	body, err := fn((*text)[:0])
	if err != nil {
		return nil, err
	}
	return func(yield func([]byte) bool) {
		yield(body)
		*text = body
		sent.Put(text)
	}, nil
}
