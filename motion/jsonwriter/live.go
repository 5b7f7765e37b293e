package jsonwriter

import (
	"encoding/json"
	"errors"

	"sensegate/motion"
)

// LiveFrame returns a live frame, whose Loc has texts and numbers, as json.Marshal does. The error is a
// *json.UnsupportedValueError, for a number that JSON cannot say.
func LiveFrame(f *motion.LiveFrame) (text []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			wrong, ok := v.(error)
			if unsupported := new(json.UnsupportedValueError); !ok || !errors.As(wrong, &unsupported) {
				panic(v)
			}
			text, err = nil, wrong
		}
	}()
	w := Writer{Out: make([]byte, 0, 256+128*len(f.Links)), EscapeHTML: true}
	w.Number(`{"ts":`, float64(f.TS))
	w.Integer(`,"interval":`, int64(f.Interval))
	w.Integer(`,"count":`, int64(f.Count))
	w.nullable(`,"links":`, f.Links == nil, len(f.Links), func(lead string, i int) { w.Text(lead, f.Links[i]) })
	w.figures(`,"data":{"mkai":`, f.Data.MKAI)
	w.figures(`,"lraw":`, f.Data.LRaw)
	w.figures(`,"throughput":`, f.Data.Throughput)
	w.figures(`,"mconf":`, f.Data.MConf)
	w.figures(`,"msad":`, f.Data.MSAD)
	w.nullable(`},"loc":`, f.Loc == nil, len(f.Loc), func(lead string, i int) { w.Value(lead, f.Loc[i]) })
	w.Text(`,"loc_name":`, f.LocName)
	if len(f.LocConf) > 0 {
		w.list(`,"loc_conf":`, len(f.LocConf), func(lead string, i int) { w.Number(lead, f.LocConf[i]) })
	}
	if f.LastMotion == nil {
		w.Raw(`,"last_motion":null`)
	} else {
		w.Number(`,"last_motion":`, float64(*f.LastMotion))
	}
	w.Tripped(`,"motion_tripped":`, f.MotionTripped)
	w.Integer(`,"motion_enabled":`, int64(f.MotionEnabled))
	w.Raw("}")
	return w.Out, nil
}

// figures writes a figure of each link, null where it is not known.
func (w *Writer) figures(lead string, values []*float64) {
	w.nullable(lead, values == nil, len(values), func(lead string, i int) {
		if v := values[i]; v != nil {
			w.Number(lead, *v)
		} else {
			w.Raw(lead)
			w.Raw("null")
		}
	})
}

// nullable is list, of which null is written for one that is nil.
func (w *Writer) nullable(lead string, isNil bool, count int, value func(lead string, i int)) {
	if isNil {
		w.Raw(lead)
		w.Raw("null")
		return
	}
	w.list(lead, count, value)
}
