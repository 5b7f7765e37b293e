package main

import (
	"context"
	"errors"
	"time"

	"sensegate/motion/series"
)

// measureDay stores a day of 50 networks, hour by hour in turn in the store and its
// peer, and measures the size of a row on disk (S1, S2), its CPU time (S6), and the time
// of reading a day (S7).
func measureDay(ctx context.Context, b *bench) ([]figure, error) {
	var figures []figure
	for _, profile := range []string{"sparse", "noisy3"} {
		found, err := b.day(ctx, profile)
		if err != nil {
			return figures, err
		}
		figures = append(figures, found...)
	}
	return inOrder(figures), nil
}

// inOrder sorts rows by the names of their figures, in the order of groups.
func inOrder(figures []figure) []figure {
	var sorted []figure
	for _, g := range groups() {
		for _, name := range g.names {
			for _, f := range figures {
				if f.Name == name {
					sorted = append(sorted, f)
				}
			}
		}
	}
	return sorted
}

// startOfDays returns the first second of a number of days that end about now, at the
// start of a row of the coarsest resolution.
func startOfDays(days int64) int64 {
	return series.QuarterHour.BlockStart(time.Now().Unix()-days*daySeconds) + series.QuarterHour.Span()
}

func (b *bench) day(ctx context.Context, profile string) (_ []figure, err error) {
	ours, peer, err := b.pair(ctx, profile, 2, networks, startOfDays(6))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.stop(), peer.stop()) }()
	var cost, peerCost map[string]float64
	for hour := range 24 {
		if cost, err = ours.ask("live", 3600); err != nil {
			return nil, err
		}
		if peerCost, err = peer.ask("live", 3600); err != nil {
			return nil, err
		}
		if hour%8 == 7 {
			b.say("%s: %d hours", profile, hour+1)
		}
	}
	if _, err := ours.ask("live", flushSeconds); err != nil {
		return nil, err
	}
	size, err := ours.ask("size", 0)
	if err != nil {
		return nil, err
	}
	peerSize, err := peer.ask("size", 0)
	if err != nil {
		return nil, err
	}
	disk := figure{
		Name: "S1", What: "disk, 50 networks × 24 h @ 1 s, sparse", Unit: "B/row", Ours: size["bytes"] / cost["rows"],
		Reach: atMost(0.35).then(0.237), Peer: prometheus, Peers: peerSize["bytes"] / peerSize["rows"],
	}
	if profile == "noisy3" {
		disk.Name, disk.What, disk.Reach = "S2", "disk, the same, noisy3", atMost(1.8).then(1.1)
	}
	cpu := figure{
		Name: "S6", What: "CPU of storing a row, sums and retention included, " + profile, Unit: "ns/row", Ours: cost["cpu"] / cost["rows"],
		Reach: atMost(80).wherePeerTook(rowThen[profile]), Peer: prometheus + ", without sums", Peers: peerCost["cpu"] / peerCost["rows"],
	}
	reading, err := readDay(ours, peer, profile)
	figures := append([]figure{disk}, b.besideVictoria(ctx, disk, size, profile)...)
	return append(append(figures, cpu), reading...), err
}

// readDay measures S7.
func readDay(ours, peer *worker, profile string) ([]figure, error) {
	const rounds = 11
	decode, peerDecode, err := inTurn(rounds, "ms", ours, "decode", peer, "decode", 0)
	if err != nil {
		return nil, err
	}
	var answers, copies, encodings []float64
	for range rounds {
		answer, err := ours.ask("answer", 5)
		if err != nil {
			return nil, err
		}
		encoding, err := ours.ask("encode", 0)
		if err != nil {
			return nil, err
		}
		answers, copies = append(answers, answer["ms"]), append(copies, answer["copy"])
		encodings = append(encodings, encoding["ms"])
	}
	copying := atMostOfPeer(40)
	if profile == "noisy3" {
		copying = atMostOfPeer(100)
	}
	answer := figure{Name: "S7", What: "24 h @ 1 s, the whole answer from the disk, " + profile, Unit: "ms", Ours: median(answers), Reach: copying, Peer: "memcpy of the answer", Peers: median(copies)}
	encoding := answer
	encoding.Reach, encoding.Peer, encoding.Peers = bound{}, "decoded, then encoding/json", median(encodings)
	return []figure{
		{
			Name: "S7", What: "24 h @ 1 s decoded, " + profile, Unit: "ms", Ours: decode,
			Reach: atMost(2).wherePeerTook(dayThen[profile]), Peer: prometheus, Peers: peerDecode,
		}, answer, encoding,
	}, nil
}

// inTurn asks two workers in turn and returns each one's median of a value.
func inTurn(rounds int, value string, ours *worker, what string, peer *worker, peersWhat string, n int) (_, _ float64, err error) {
	var mine, theirs []float64
	for range rounds {
		a, err := ours.ask(what, n)
		if err != nil {
			return 0, 0, err
		}
		b, err := peer.ask(peersWhat, n)
		if err != nil {
			return 0, 0, err
		}
		mine, theirs = append(mine, a[value]), append(theirs, b[value])
	}
	return median(mine), median(theirs), nil
}
