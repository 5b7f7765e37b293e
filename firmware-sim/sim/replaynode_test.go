package sim

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"sensegate/firmware-sim/capture"
)

// lines returns n messages, one each ms.
func lines(n int) []capture.Message {
	var messages []capture.Message
	for i := range n {
		messages = append(messages, capture.Message{Time: float64(i) / 1000, Payload: fmt.Appendf(nil, "line %d\n", i)})
	}
	return messages
}

func TestDatagramsAreSentInOrderAndNotTooEarly(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	socket, err := config.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	messages := lines(20)
	messages[3].Time = 0 // later, but told to be earlier: it is sent without a pause
	messages[19].Time = 2
	began := time.Now()
	recording := NodeReplay{Messages: messages, Speed: 10}
	sent, refused, err := recording.SendTo(t.Context(), socket.LocalAddr().String())
	if took := time.Since(began); err != nil || sent != 20 || refused != 0 || took < 200*time.Millisecond {
		t.Errorf("%d sent, %d refused in %s, %v", sent, refused, took, err)
	}
	buffer := make([]byte, 100)
	for i := range 20 {
		n, _, err := socket.ReadFrom(buffer)
		if want := fmt.Sprintf("line %d\n", i); err != nil || string(buffer[:n]) != want {
			t.Fatalf("datagram %d is %q, %v", i, buffer[:n], err)
		}
	}
}

func TestDatagramsThatNobodyTakesAreCounted(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	socket, err := config.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket.Close()
	recording := NodeReplay{Messages: lines(20), Speed: 1}
	sent, refused, err := recording.SendTo(t.Context(), socket.LocalAddr().String())
	if err != nil || sent != 20 || refused == 0 {
		t.Errorf("%d sent, %d refused, %v", sent, refused, err)
	}
}

func TestLinesAreServedToOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan error, 1)
	recording := NodeReplay{Messages: lines(20), Speed: maxSpeed, Loop: true}
	go func() {
		_, err := recording.Serve(ctx, listener)
		done <- err
	}()
	for client := range 2 {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		scanner := bufio.NewScanner(connection)
		for i := range 50 { // twice and a half
			if want := fmt.Sprintf("line %d", i%20); !scanner.Scan() || scanner.Text() != want {
				t.Fatalf("client %d: line %d is %q, %v", client, i, scanner.Text(), scanner.Err())
			}
		}
		connection.Close()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServingEndsWithTheLastLine(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	recording := NodeReplay{Messages: lines(20), Speed: maxSpeed}
	if sent, err := recording.Serve(t.Context(), listener); err != nil || sent != 20 {
		t.Errorf("%d sent, %v", sent, err)
	}
	scanner := bufio.NewScanner(connection)
	for n := 0; scanner.Scan(); n++ {
		if want := fmt.Sprintf("line %d", n); scanner.Text() != want {
			t.Errorf("line %d is %q", n, scanner.Text())
		}
	}
}

func TestRecordingOfANodeIsChecked(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]NodeReplay{
		"no messages": {Speed: 1}, "slow": {Messages: lines(1), Speed: 0.5}, "fast": {Messages: lines(1), Speed: 1001},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: is replayed", name)
		}
	}
	good := NodeReplay{Messages: lines(1), Speed: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}
