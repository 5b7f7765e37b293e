package nodes

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// brokerLink is the connection of a node of ESPectre to the broker that it was told of.
type brokerLink struct {
	telling sync.Mutex // over tell and unplug
	say     func(verdict)
	unplug  func() error // nil: it has been
}

func (l *brokerLink) tell(v verdict) {
	l.telling.Lock()
	defer l.telling.Unlock()
	if l.unplug != nil {
		l.say(v)
	}
}

func (l *brokerLink) close() error {
	l.telling.Lock()
	defer l.telling.Unlock()
	err := l.unplug()
	l.unplug = nil
	return err
}

// longestBody is the most that a node reads of a request, in bytes.
const longestBody = 2048

// joinBroker connects the node to the broker that a request names, in place of another one.
func (n *ESPectre) joinBroker(w http.ResponseWriter, r *http.Request) {
	var named struct {
		Scheme   string `json:"scheme"`
		Host     string `json:"host"`
		Port     uint16 `json:"port"`
		User     string `json:"username"`
		Password string `json:"password"`
		Topic    string `json:"topic_prefix"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestBody)).Decode(&named)
	if err != nil || named.Scheme != "mqtt" || named.Host == "" || named.Port == 0 || named.Topic == "" {
		n.refuse(w, http.StatusBadRequest, "Invalid MQTT settings")
		return
	}
	n.joining.Lock()
	defer n.joining.Unlock()
	if err := n.part(); err != nil || r.Context().Err() != nil { // the node ends
		n.refuse(w, http.StatusInternalServerError, "Not possible")
		return
	}
	client := &MQTT{
		Server: net.JoinHostPort(named.Host, strconv.Itoa(int(named.Port))), User: named.User, Password: named.Password,
		Topic: named.Topic + "/" + n.DeviceID(), Form: NativeMQTT,
	}
	// The connection outlives the request.
	say, unplug := client.connect(context.WithoutCancel(r.Context()))
	n.mu.Lock()
	n.broker = &brokerLink{say: say, unplug: func() error { unplug(); return nil }}
	n.mu.Unlock()
	write(w, http.StatusOK, answer{"scheme": named.Scheme, "host": named.Host, "port": named.Port, "username": named.User, "topic_prefix": named.Topic})
}

// leaveBroker ends the connection to the broker, if there is one.
func (n *ESPectre) leaveBroker() error {
	n.joining.Lock()
	defer n.joining.Unlock()
	return n.part()
}

// part is leaveBroker for those who hold joining.
func (n *ESPectre) part() error {
	n.mu.Lock()
	broker := n.broker
	n.broker = nil
	n.mu.Unlock()
	if broker == nil {
		return nil
	}
	return broker.close()
}
