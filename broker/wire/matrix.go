package wire

import (
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

const (
	maxCount = 1000    // steps or samples of one message
	maxCells = 8192    // steps of all links of one message
	maxMACs  = 256     // places of a motion-history
	maxMS    = 3600000 // longest interval, 1 h
	rounding = 1e-6    // how far a value may lie outside its range and is moved back

	defaultLiveMS    = 500
	defaultHistoryMS = 5000
	noMotion         = "nomotion"
)

// mostOf are the largest values of the figures of a motion-matrix; the smallest is 0.
var mostOf = [len(motion.Figures{})]float64{motion.MKAI: 1, motion.LRaw: 1, motion.Throughput: 1, motion.MSAD: math.MaxFloat64, motion.MConf: math.MaxFloat64}

// matrix is a motion-matrix as it is sent, without its figures and places.
type matrix struct {
	TS            motion.Time `json:"ts"`
	Links         []string    `json:"links"`
	Interval      int         `json:"interval"`
	Count         int         `json:"count"`
	MotionTripped int         `json:"motion_tripped"`
	LastMotion    motion.Time `json:"last_motion"`
	MotionEnabled int         `json:"motion_enabled"`
}

// decodeMatrix reads a motion-matrix (device-protocol.md 2.2). A single value of
// a message with several steps stands for each of them.
func decodeMatrix(top map[string]any) (motion.Report, *fault.Error) {
	message := matrix{Interval: defaultLiveMS, Count: 1, MotionEnabled: 1}
	if err := into(&message, top); err != nil {
		return nil, err
	}
	if err := checkSteps(message.Interval, message.Count); err != nil {
		return nil, err
	}
	if cells := message.Count * len(message.Links); cells > maxCells {
		return nil, under("count", invalid("%d steps of %d links: at most %d values", message.Count, len(message.Links), maxCells))
	}
	for i, link := range message.Links {
		id, err := linkID(link)
		if err != nil {
			return nil, under("links", item(i, err))
		}
		message.Links[i] = id
	}
	values, err := decodeFigures(top, len(message.Links), message.Count)
	if err != nil {
		return nil, err
	}
	loc, err := decodeLoc(top["loc"])
	if err != nil {
		return nil, under("loc", err)
	}
	return &motion.Matrix{
		TS: message.TS, Interval: message.Interval, Count: message.Count, Links: message.Links, Values: values, Loc: loc,
		MotionTripped: message.MotionTripped, MotionEnabled: message.MotionEnabled, LastMotion: message.LastMotion,
	}, nil
}

// dataOf returns the object with the figures, under its present or its older
// name, and the name.
func dataOf(top map[string]any, now, old string) (map[string]any, string, *fault.Error) {
	name := now
	if top[name] == nil {
		name = old
	}
	if top[name] == nil {
		return nil, now, under(now, invalid("missing"))
	}
	object, err := toObject(top[name])
	return object, name, under(name, err)
}

// decodeFigures reads data, or motion, its older name: a list per figure with one element
// per link, a value or a list of count values.
func decodeFigures(top map[string]any, links, count int) (values motion.Figures, _ *fault.Error) {
	data, name, err := dataOf(top, "data", "motion")
	if err != nil {
		return values, err
	}
	for i, most := range mostOf {
		figure := motion.Figure(i).String()
		if data[figure] == nil {
			continue
		}
		list, err := toList(data[figure])
		if err == nil && len(list) != links {
			err = invalid("%d values for %d links", len(list), links)
		}
		if err == nil {
			values[i], err = decodeRows(list, count, most)
		}
		if err != nil {
			return values, under(name, under(figure, err))
		}
	}
	return values, nil
}

// decodeRows reads one figure: of each link a value or a list of count values.
func decodeRows(list []any, count int, most float64) ([][]float64, *fault.Error) {
	rows := make([][]float64, len(list))
	for i, src := range list {
		steps, several := src.([]any)
		if !several {
			steps = []any{src}
		}
		row, err := decodeValues(steps, most)
		if err == nil && len(row) == 1 && !several {
			row = slices.Repeat(row, count)
		}
		if err == nil && len(row) != count {
			err = invalid("%d values for count %d", len(row), count)
		}
		if err != nil {
			return nil, item(i, err)
		}
		rows[i] = row
	}
	return rows, nil
}

// decodeValues reads numbers of 0..most; null is NaN.
func decodeValues(list []any, most float64) ([]float64, *fault.Error) {
	values := make([]float64, len(list))
	for i, src := range list {
		value, err := decodeValue(src, most)
		if err != nil {
			return nil, item(i, err)
		}
		values[i] = value
	}
	return values, nil
}

// decodeValue reads a number of 0..most, or none: NaN.
func decodeValue(src any, most float64) (float64, *fault.Error) {
	if src == nil || blank(src) {
		return math.NaN(), nil
	}
	value, err := toFloat(src)
	if err != nil {
		return 0, err
	}
	return within(value, 0, most)
}

// within returns value when it lies in least..most, or so little outside that it
// was rounded there.
func within(value, least, most float64) (float64, *fault.Error) {
	if value < least-rounding || value > most+rounding {
		return 0, invalid("%g is not in %g..%g", value, least, most)
	}
	return max(least, min(value, most)), nil
}

// decodeLoc reads where motion was: "nomotion", or MACs, each followed by its
// confidence or not.
func decodeLoc(src any) ([]motion.MatrixLoc, *fault.Error) {
	if text, ok := src.(string); ok {
		src = []any{text}
	}
	if src == nil || blank(src) {
		return nil, nil
	}
	list, err := toList(src)
	if err != nil {
		return nil, err
	}
	if len(list) > maxMACs {
		return nil, invalid("%d entries: at most %d", len(list), maxMACs)
	}
	var loc []motion.MatrixLoc
	for i, element := range list {
		text, isText := element.(string)
		mac, notMAC := motion.ParseMAC(text)
		switch {
		case isText && (text == noMotion || text == ""):
			continue
		case isText && notMAC == nil && !mac.IsZero():
			loc = append(loc, motion.MatrixLoc{MAC: mac, Confidence: 1})
			continue
		case len(loc) == 0:
			return nil, item(i, malformed("want nomotion or a MAC"))
		}
		confidence, err := decodeValue(element, 1)
		if err != nil {
			return nil, item(i, err)
		}
		if !math.IsNaN(confidence) {
			loc[len(loc)-1].Confidence = confidence
		}
	}
	return loc, nil
}

// checkSteps checks the two numbers that say how the values of a message lie in
// time.
func checkSteps(interval, count int) *fault.Error {
	if interval < 1 || interval > maxMS {
		return under("interval", invalid("%d ms is not in 1..%d", interval, maxMS))
	}
	if count < 1 || count > maxCount {
		return under("count", invalid("%d is not in 1..%d", count, maxCount))
	}
	return nil
}
