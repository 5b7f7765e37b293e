package motion

// LiveFrame is one frame of the live motion stream (payloads.md 4.7). Values
// that are not known are null.
type LiveFrame struct {
	TS            Time      `json:"ts"`
	Interval      int       `json:"interval"` // ms
	Count         int       `json:"count"`
	Links         []string  `json:"links"`
	Data          LiveData  `json:"data"`
	Loc           []any     `json:"loc"` // ["nomotion"], or [mac, confidence]
	LocName       string    `json:"loc_name"`
	LocConf       []float64 `json:"loc_conf,omitempty"`
	LastMotion    *Time     `json:"last_motion"`
	MotionTripped *int      `json:"motion_tripped"` // null: unknown
	MotionEnabled int       `json:"motion_enabled"`
}

// LiveData holds one value per link of the frame.
type LiveData struct {
	MKAI       []*float64 `json:"mkai"`       // gated intensity, 0..1
	LRaw       []*float64 `json:"lraw"`       // before gating, 0..1
	Throughput []*float64 `json:"throughput"` // sounding success, 0..1
	MConf      []*float64 `json:"mconf"`
	MSAD       []*float64 `json:"msad"`
}
