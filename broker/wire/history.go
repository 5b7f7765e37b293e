package wire

import (
	"math"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// history is a motion-history as it is sent. Its figures are read apart.
type history struct {
	TS       motion.Time `json:"ts"`
	Interval int         `json:"interval"`
	Count    int         `json:"count"`
	Location struct {
		MACs []motion.MAC `json:"macs"`
	} `json:"location"`
}

// decodeHistory reads a motion-history (device-protocol.md 2.3). Of its figures it reads mkai
// and msad only.
func decodeHistory(top map[string]any) (motion.Report, *fault.Error) {
	message := history{Interval: defaultHistoryMS}
	if err := into(&message, top); err != nil {
		return nil, err
	}
	mkai, err := historyFigure(top, "mkai", 1)
	if err != nil {
		return nil, err
	}
	if message.Count == 0 {
		message.Count = len(mkai)
	}
	if err := checkSteps(message.Interval, message.Count); err != nil {
		return nil, err
	}
	if len(mkai) != message.Count {
		return nil, under("motion", under("mkai", invalid("%d values for count %d", len(mkai), message.Count)))
	}
	macs := message.Location.MACs
	if len(macs) > maxMACs {
		return nil, under("location", under("macs", invalid("%d entries: at most %d", len(macs), maxMACs)))
	}
	density, err := decodeDensity(top["location"], message.Count, len(macs))
	if err != nil {
		return nil, under("location", under("density", err))
	}
	msad, err := historyFigure(top, "msad", math.MaxFloat64)
	if err != nil || len(msad) != message.Count {
		msad = nil // the intensities count without it too
	}
	return motion.History{
		TS: message.TS, Interval: message.Interval, Count: message.Count, MKAI: mkai, MSAD: msad, MACs: macs, Density: density,
	}, nil
}

// historyFigure reads the values of a figure, 0..most, which lie under motion (or
// data).
func historyFigure(top map[string]any, figure string, most float64) ([]float64, *fault.Error) {
	figures, name, err := dataOf(top, "motion", "data")
	if err != nil {
		return nil, err
	}
	if figures[figure] == nil {
		return nil, under(name, under(figure, invalid("missing")))
	}
	list, err := toList(figures[figure])
	if err == nil && len(list) > maxCount {
		err = invalid("%d values: at most %d", len(list), maxCount)
	}
	var values []float64
	if err == nil {
		values, err = decodeValues(list, most)
	}
	return values, under(name, under(figure, err))
}

// decodeDensity reads the share of each sample at each place: none at all, or one
// list per sample, which is empty or has one share per place, NaN for an unknown one.
func decodeDensity(location any, count, places int) ([][]float64, *fault.Error) {
	object, ok := location.(map[string]any)
	if !ok || object["density"] == nil {
		return nil, nil
	}
	samples, err := toList(object["density"])
	if err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, nil
	}
	if len(samples) != count {
		return nil, invalid("%d lists for count %d", len(samples), count)
	}
	density := make([][]float64, count)
	for i, src := range samples {
		if density[i], err = decodeShares(src, places); err != nil {
			return nil, item(i, err)
		}
	}
	return density, nil
}

func decodeShares(src any, places int) ([]float64, *fault.Error) {
	if src == nil {
		return nil, nil
	}
	list, err := toList(src)
	if err != nil {
		return nil, err
	}
	if len(list) != 0 && len(list) != places {
		return nil, invalid("%d values for %d macs", len(list), places)
	}
	return decodeValues(list, 1)
}
