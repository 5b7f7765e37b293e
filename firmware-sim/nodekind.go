package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
)

// nodeKind is a kind of node that the command node plays.
type nodeKind struct {
	name     motion.NodeKind
	rate     float64 // frames a second, as real ones send
	register func(f *nodeFlags, set *flag.FlagSet)
	make     func(f *nodeFlags, i int) (player, error) // node i
}

// player is a node that can be run.
type player interface {
	Run(ctx context.Context, source nodes.Source) error
	Sent() int64
}

func nodeKinds() []nodeKind {
	return []nodeKind{
		{motion.RuView, 50, (*nodeFlags).registerRuView, func(f *nodeFlags, i int) (player, error) {
			return f.udp(i, nodes.RuView(uint8(f.number+i), f.header))
		}},
		{motion.MicroESPectre, 100, sendsTo("127.0.0.1:5001"), func(f *nodeFlags, i int) (player, error) {
			return f.udp(i, nodes.MicroESPectre())
		}},
		{motion.Nexmon, 100, sendsTo("127.0.0.1:5500"), func(f *nodeFlags, i int) (player, error) {
			return f.udp(i, nodes.Nexmon())
		}},
		{motion.CSILines, 100, listensAt("127.0.0.1:3333"), (*nodeFlags).lines},
		{motion.ESPectre, 100, (*nodeFlags).registerESPectre, (*nodeFlags).espectre},
		{motion.MQTTMotion, 100, (*nodeFlags).registerMQTT, (*nodeFlags).mqtt},
	}
}

// sendsTo registers the flags of nodes that send datagrams.
func sendsTo(usual string) func(*nodeFlags, *flag.FlagSet) {
	return func(f *nodeFlags, set *flag.FlagSet) {
		set.StringVar(&f.to, "to", usual, "`host:port` of the appliance")
		set.StringVar(&f.bind, "bind", "", "`address` of this machine that the first node sends from; the second sends from the next one")
	}
}

// listensAt registers the flag of nodes that the appliance connects to.
func listensAt(usual string) func(*nodeFlags, *flag.FlagSet) {
	return func(f *nodeFlags, set *flag.FlagSet) {
		set.StringVar(&f.listen, "listen", usual, "`host:port` that the first node is reached at; the second has the next port")
	}
}

func (f *nodeFlags) registerRuView(set *flag.FlagSet) {
	sendsTo("127.0.0.1:5005")(f, set)
	set.IntVar(&f.number, "number", 1, "number of the first node; the second has the next one")
	set.IntVar(&f.header, "header", 3, "version of the header: 1 (names no transmitter), 2 or 3")
	set.BoolVar(&f.mixed, "mixed", false, "send frames of 64, 128 and 192 subcarriers, as nodes in the field do")
	set.Float64Var(&f.foreign, "foreign", 0, "`share` of frames that neighbours' devices have sent, 0 to 1 (in a home without a filter 0.75 was seen)")
}

func (f *nodeFlags) registerESPectre(set *flag.FlagSet) {
	listensAt(net.JoinHostPort("127.0.0.1", strconv.Itoa(nodes.ESPectrePort)))(f, set)
	set.StringVar(&f.mac, "mac", "", "`MAC` address of the first node's station; empty = that of the interface that it listens on, or a made-up one")
	set.BoolVar(&f.mdns, "mdns", true, "announce the nodes by multicast DNS, unless they listen on loopback")
}

func (f *nodeFlags) registerMQTT(set *flag.FlagSet) {
	set.StringVar(&f.to, "to", "127.0.0.1:1883", "`host:port` of the broker")
	set.StringVar(&f.user, "user", "", "`name` of the broker's user (sensegate mqttuser create NAME)")
	set.StringVar(&f.password, "password", "", "its `password`")
	set.StringVar(&f.topic, "topic", "", "`topic` that the messages of the first node begin with, further ones have -2, -3 … behind it; empty = the user's name and /node")
	set.StringVar((*string)(&f.form), "form", string(nodes.ESPHome), "how they speak: esphome, micro (Micro-ESPectre) or native (ESPectre)")
}

// udp returns node i, which sends datagrams.
func (f *nodeFlags) udp(i int, encode nodes.Encode) (player, error) {
	n := &nodes.UDP{To: f.to, Encode: encode}
	if f.bind != "" {
		address, err := netip.ParseAddr(f.bind)
		if err != nil {
			return nil, usagef("-bind: %v", err)
		}
		for range i {
			address = address.Next()
		}
		n.From = address
	}
	f.where = append(f.where, "to "+f.to)
	return n, nil
}

// listenAt returns host:port of node i.
func (f *nodeFlags) listenAt(i int) (string, error) {
	host, text, err := net.SplitHostPort(f.listen)
	port, err2 := strconv.ParseUint(text, 10, 16)
	if err != nil || err2 != nil {
		return "", usagef("-listen %q: want host:port", f.listen)
	}
	if port > 0 {
		port += uint64(i)
	}
	return net.JoinHostPort(host, strconv.FormatUint(port, 10)), nil
}

func (f *nodeFlags) lines(i int) (player, error) {
	at, err := f.listenAt(i)
	if err != nil {
		return nil, err
	}
	n, err := nodes.NewLines(at)
	if err != nil {
		return nil, err
	}
	f.where = append(f.where, "at tcp://"+n.At())
	return n, nil
}

// announced is a node of ESPectre that is announced while it runs.
type announced struct {
	*nodes.ESPectre
	mdns bool
}

// Run implements player.
func (n announced) Run(ctx context.Context, source nodes.Source) error {
	ctx, stop := context.WithCancel(ctx)
	told := make(chan error, 1)
	go func() {
		if n.mdns {
			told <- n.Announce(ctx)
		}
		close(told)
	}()
	err := n.ESPectre.Run(ctx, source)
	stop()
	if err == nil {
		err = <-told
	}
	return err
}

func (f *nodeFlags) espectre(i int) (player, error) {
	at, err := f.listenAt(i)
	if err != nil {
		return nil, err
	}
	router, err := motion.ParseMAC(f.router)
	if err != nil {
		return nil, usagef("-router: %v", err)
	}
	bound, err := netip.ParseAddrPort(at)
	if err != nil {
		return nil, usagef("-listen: %v", err)
	}
	mac := nodes.StationMAC(bound.Addr())
	if f.mac != "" {
		if mac, err = motion.ParseMAC(f.mac); err != nil {
			return nil, usagef("-mac: %v", err)
		}
	}
	mac[5] += byte(i)
	n, err := nodes.NewESPectre(nodes.ESPectreConfig{Listen: at, MAC: mac, Router: router, Name: fmt.Sprintf("ESPectre %d", i+1)})
	if err != nil {
		return nil, err
	}
	f.where = append(f.where, "at http://"+n.At()+" ("+n.DeviceID()+")")
	return announced{n, f.mdns && !bound.Addr().IsLoopback()}, nil
}

func (f *nodeFlags) mqtt(i int) (player, error) {
	switch f.form {
	case nodes.ESPHome, nodes.MicroMQTT, nodes.NativeMQTT:
	default:
		return nil, usagef("-form %q: want esphome, micro or native", f.form)
	}
	if f.user == "" {
		return nil, usagef("-user: name the user that the nodes log in as")
	}
	n := &nodes.MQTT{Server: f.to, User: f.user, Password: f.password, Topic: f.topic, Form: f.form}
	if n.Topic == "" {
		n.Topic = f.user + "/node"
	}
	if i > 0 {
		n.Topic = fmt.Sprintf("%s-%d", n.Topic, i+1)
	}
	f.where = append(f.where, "to mqtt://"+f.to+" as "+n.Topic)
	return n, nil
}
