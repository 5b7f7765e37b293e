package wire

import (
	"math"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// linkMotions is a link-motion as it is sent.
type linkMotions struct {
	TS       motion.Time  `json:"ts"`
	Interval int          `json:"interval"`
	Links    []linkMotion `json:"links"`
}

type linkMotion struct {
	Src        motion.MAC `json:"src"`
	Dst        motion.MAC `json:"dst"`
	MKAI       *float64   `json:"mkai"`
	LRaw       *float64   `json:"lraw,omitempty"`
	Throughput *float64   `json:"throughput,omitempty"`
	RSSI       float64    `json:"rssi,omitempty"`
}

// decodeLinkMotions reads a link-motion (device-protocol.md 2.6). A link whose mkai is null
// had no data and is left out: no data is not "no motion".
func decodeLinkMotions(top map[string]any) (motion.Report, *fault.Error) {
	message := linkMotions{Interval: defaultLiveMS}
	if err := into(&message, top); err != nil {
		return nil, err
	}
	if err := checkSteps(message.Interval, 1); err != nil {
		return nil, err
	}
	report := motion.LinkMotions{TS: message.TS, Interval: message.Interval}
	for i, sent := range message.Links {
		link, err := decodeLinkMotion(sent)
		if err != nil {
			return nil, under("links", item(i, err))
		}
		if !math.IsNaN(link.MKAI) {
			report.Links = append(report.Links, link)
		}
	}
	return report, nil
}

func decodeLinkMotion(sent linkMotion) (motion.LinkMotion, *fault.Error) {
	link := motion.LinkMotion{Src: sent.Src, Dst: sent.Dst, RSSI: sent.RSSI}
	switch {
	case sent.Src.IsZero():
		return link, under("src", invalid("missing"))
	case sent.Dst.IsZero():
		return link, under("dst", invalid("missing"))
	case sent.Src == sent.Dst:
		return link, under("src", invalid("is the dst too"))
	case sent.RSSI < -200 || sent.RSSI > 100:
		return link, under("rssi", invalid("%g dBm is not in -200..100", sent.RSSI))
	}
	for _, figure := range []struct {
		name string
		sent *float64
		into *float64
	}{{"mkai", sent.MKAI, &link.MKAI}, {"lraw", sent.LRaw, &link.LRaw}, {"throughput", sent.Throughput, &link.Throughput}} {
		value, err := share(figure.sent)
		if err != nil {
			return link, under(figure.name, err)
		}
		*figure.into = value
	}
	return link, nil
}

// share returns a number of 0..1, or NaN for none.
func share(sent *float64) (float64, *fault.Error) {
	if sent == nil {
		return math.NaN(), nil
	}
	return within(*sent, 0, 1)
}
