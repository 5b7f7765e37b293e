package apitest

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// open connects to a websocket, in place of the one before.
func (w *Walk) open(client *Client, path, token string) (err error) {
	if w.socket != nil {
		w.socket.Close()
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", token)
	}
	w.socket, _, err = websocket.DefaultDialer.DialContext(w.T.Context(), "ws://"+client.Address+client.Base+path, header)
	if err != nil {
		return err
	}
	w.T.Cleanup(func() { w.socket.Close() })
	return w.socket.SetReadDeadline(time.Now().Add(patience))
}

// frames reads so many frames of the open websocket.
func (w *Walk) frames(n int) (all []value) {
	for range n {
		_, raw, err := w.socket.ReadMessage()
		if err != nil {
			w.T.Fatal(err)
		}
		values, err := readValues(raw)
		if err != nil {
			w.T.Fatal(err)
		}
		all = append(all, values...)
		if kind, _ := values[0].get("type"); kind.scalar == "done" {
			_, _, err = w.socket.ReadMessage()
			if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				w.T.Errorf("after done: %v, want close 1000", err)
			}
		}
	}
	return all
}

// receive waits until the receiver of pushes gets what the block shows; other
// pushes may come before.
func (w *Walk) receive(b block) {
	w.T.Helper()
	documented := mustRead(w.T, b)
	var last []value
	for end := time.After(patience / 2); ; {
		select {
		case raw := <-w.Received:
			got, err := readValues(raw)
			if err != nil {
				w.T.Fatal(err)
			}
			if last = got; len(documented) == len(got) && len(rule{}.differences("", documented[0], got[0])) == 0 {
				return
			}
		case <-end:
			w.compare(b, last)
			return
		}
	}
}
