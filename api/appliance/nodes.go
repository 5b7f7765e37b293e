package appliance

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"sensegate/api/lan"
	"sensegate/api/mdns"
	"sensegate/broker"
	"sensegate/broker/nodedoor"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// openDoor makes the door for nodes of other makers.
func (a *Appliance) openDoor() {
	a.nodes = nodedoor.New(a.config.Nodes, nodedoor.Options{
		Engine: a.engine, Neighbour: broker.Neighbour, Connected: lan.Connected, Browse: browse, Log: a.log,
	})
}

// browse returns who offers a service in the household's networks.
func browse(ctx context.Context, service string) ([]netip.AddrPort, error) {
	links, err := lan.Links(nil)
	if err != nil {
		return nil, err
	}
	return mdns.Browse(ctx, service, links)
}

// outbound reaches devices where they are: our own at the broker, nodes of other makers nowhere, as they
// take no commands.
type outbound struct {
	*broker.Server
	nodes *nodedoor.Door
}

// Send sends a command. What is retained for a node of another maker is for nobody.
func (o outbound) Send(device motion.DeviceKey, command string, payload []byte, retain bool) error {
	switch {
	case motion.NodeKindOf(device.ID) == "":
		return o.Server.Send(device, command, payload, retain)
	case retain:
		return nil
	}
	return fault.New(fault.Unavailable, "device %s is a node of another maker, which takes no commands from here", device.ID)
}

// Disconnect ends the session of a device.
func (o outbound) Disconnect(device motion.DeviceKey, reason string) {
	if motion.NodeKindOf(device.ID) == "" {
		o.Server.Disconnect(device, reason)
		return
	}
	o.nodes.Forget(device.ID)
}

// NodesAt returns where nodes of a kind are listened for, host:port; "" when they are not.
func (a *Appliance) NodesAt(kind motion.NodeKind) string {
	for _, f := range a.nodes.Figures() {
		if _, address, _ := strings.Cut(f.At, " "); f.Kind == kind {
			return address
		}
	}
	return ""
}

// nodes is the door of nodes of other makers, as administrators use it.
type nodes struct {
	*nodedoor.Door
	broker *broker.Server
}

// PointHere has a node publish to the broker of this box.
func (n nodes) PointHere(ctx context.Context, deviceID, user, password string) error {
	at, ok := n.broker.Addr().(*net.TCPAddr)
	if !ok {
		return fault.New(fault.Conflict, "the broker listens with TLS alone: mqtt.listen in the configuration")
	}
	return n.Door.PointHere(ctx, deviceID, at.Port, user, password)
}
