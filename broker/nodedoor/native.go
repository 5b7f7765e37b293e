package nodedoor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"

	"sensegate/motion/fault"
)

// ESPectreTopics is where a node of ESPectre publishes with its Native frontend, before its device_id.
const ESPectreTopics = "espectre/v1/devices"

// Identity returns the device_id of a node of ESPectre that is followed. NotFound: there is none of that
// deviceId, or it was not reached yet.
func (d *Door) Identity(deviceID string) (id string, err error) {
	_, n, err := d.espectreNode(deviceID)
	return n.id, err
}

// espectreNode returns a node of ESPectre that is followed.
func (d *Door) espectreNode(deviceID string) (*espectre, espectreNode, error) {
	d.mu.Lock()
	known := d.nodes[deviceID]
	d.mu.Unlock()
	for _, i := range d.intakes {
		e, ok := i.(*espectre)
		if !ok || known == nil {
			continue
		}
		e.mu.Lock()
		n, met := e.met[known.source]
		e.mu.Unlock()
		if met {
			return e, n, nil
		}
	}
	return nil, espectreNode{}, fault.New(fault.NotFound, "device %.80q: no node of ESPectre that was reached by HTTP; see device list, and nodes.espectre in the configuration", deviceID)
}

// PointHere has a node of ESPectre with the Native frontend publish to the broker of this box, at a port, as a user
// whose topics are those below ESPectreTopics and its device_id. It tells the node the address by which that
// reaches this box. Conflict: the node has another frontend, or refuses.
func (d *Door) PointHere(ctx context.Context, deviceID string, port int, user, password string) error {
	e, n, err := d.espectreNode(deviceID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*answerWithin)
	defer cancel()
	var own netip.Addr // of this box, as the node sees it
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		own = c.Conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	}})
	var device struct {
		Frontend string `json:"frontend"`
	}
	if err := e.get(ctx, n.base+"device", &device); err != nil {
		return fault.New(fault.Unavailable, "%v", err)
	}
	if device.Frontend != "" && device.Frontend != "native" {
		return fault.New(fault.Conflict, "the node has the frontend %.20q: only native can be pointed here; an ESPHome node is by its own mqtt: settings", device.Frontend)
	}
	body, err := json.Marshal(map[string]any{
		"scheme": "mqtt", "host": own.String(), "port": port, "username": user, "password": password, "topic_prefix": ESPectreTopics,
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, n.base+"mqtt", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Origin", e.config.Origin)
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return fault.New(fault.Unavailable, "%v", err)
	}
	_ = response.Body.Close() // it is of no use
	if response.StatusCode >= http.StatusMultipleChoices {
		return fault.New(fault.Conflict, "the node answers %s to PATCH %smqtt", response.Status, espectrePath)
	}
	d.options.Log.Info("node publishes to this box now", "device", deviceID, "at", fmt.Sprintf("%s:%d", own, port))
	return nil
}
