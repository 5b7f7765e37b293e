package mqtt_test

import (
	"testing"

	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

func TestMessagesArriveInOrder(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("a/#")
	sender := broker.Connect("sender")
	var acknowledged []<-chan error
	for n := range 1000 {
		result, err := sender.Begin(t.Context(), uplink.Message{Topic: "a/b", Payload: []byte{byte(n >> 8), byte(n)}})
		if err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, result)
	}
	for n, result := range acknowledged {
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		if m := reader.Next(); int(m.Payload[0])<<8|int(m.Payload[1]) != n {
			t.Fatalf("message %v, want %d", m, n)
		}
	}
	if got := sender.Traffic(); got.Sent != 1000 || got.Queue != 0 {
		t.Errorf("%+v", got)
	}
}
