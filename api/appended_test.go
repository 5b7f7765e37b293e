package api_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"sensegate/api"
)

func TestAppendedAnswersKeepApart(t *testing.T) {
	t.Parallel()
	answer := func(letter byte, size int) api.Pieces[string] {
		body, err := api.Appended[string](func(dst []byte) ([]byte, error) {
			return append(dst, bytes.Repeat([]byte{letter}, size)...), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	send := func(body api.Pieces[string], meanwhile func()) (sent []byte) {
		body(func(piece []byte) bool {
			meanwhile()
			sent = append(sent, piece...)
			return false // the client is gone
		})
		return sent
	}
	first, second := answer('a', 5000), answer('b', 3000)
	for range 5 { // the pool forgets now and then
		if got := send(first, func() { send(answer('c', 4000), func() { answer('d', 6000) }) }); string(got) != string(bytes.Repeat([]byte{'a'}, 5000)) {
			t.Fatalf("first answer: %q", slices.Compact(got))
		}
		first = answer('a', 5000)
	}
	if got := send(second, func() {}); string(got) != string(bytes.Repeat([]byte{'b'}, 3000)) {
		t.Errorf("second answer: %q", slices.Compact(got))
	}
	failed := errors.New("no disk")
	if body, err := api.Appended[string](func(dst []byte) ([]byte, error) { return append(dst, 'e'), failed }); body != nil || !errors.Is(err, failed) {
		t.Errorf("body %t, error %v", body != nil, err)
	}
}
