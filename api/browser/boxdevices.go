package browser

import (
	"cmp"
	"context"
	"math"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion"
	fleet "sensegate/motion/engine/devices"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/household"
)

type boxDevice struct {
	ID        string            `json:"id" doc:"Device id" example:"csi-a-02aa00000210"`
	Entry     *string           `json:"entry" nullable:"true" doc:"Of one that waits: for POST /admin/devices/{entry}/adopt" example:"k7q2mzda"`
	Kind      string            `json:"kind" doc:"radar, guardian, or unknown for what is not adopted" example:"radar"`
	Name      string            `json:"name" doc:"Of its node; empty: none" example:"GWA1000210"`
	NetworkID *motion.NetworkID `json:"network_id" nullable:"true" doc:"null: none" example:"17"`
	State     string            `json:"state" enum:"online,offline,waiting,refused"`
	Why       string            `json:"why" doc:"In words; empty: it works" example:"waits for adoption"`
	Address   string            `json:"address" doc:"Empty: not known" example:"192.168.10.17"`
	LastSeen  *motion.Time      `json:"last_seen" nullable:"true" example:"1764000060.2"`
	Node      *NodeView         `json:"node,omitempty" doc:"Of a node of another maker, without figures; left out: another device, or nothing is heard of it"`
}

type boxWindow struct {
	NetworkID *motion.NetworkID `json:"network_id" nullable:"true" doc:"null: networks without an owner, and new ones" example:"17"`
	Until     motion.Time       `json:"until" example:"1764000660"`
}

type boxDevicesOut struct {
	Body struct {
		Devices  []boxDevice  `json:"devices" nullable:"false"`
		Windows  []boxWindow  `json:"windows" nullable:"false" doc:"Where new devices are let in now"`
		Networks []boxNetwork `json:"networks" nullable:"false"`
		Intakes  []boxIntake  `json:"intakes" nullable:"false" doc:"Where nodes of other makers are listened for"`
	}
}

func (b *Browser) boxDevices(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxDevicesOut, error) {
	list, err := b.Box.Devices(ctx)
	if err != nil {
		return nil, err
	}
	out := &boxDevicesOut{}
	out.Body.Devices, out.Body.Windows = []boxDevice{}, []boxWindow{}
	for i := range list.Devices {
		out.Body.Devices = append(out.Body.Devices, boxDeviceOf(&list.Devices[i]))
	}
	if list.Open {
		out.Body.Windows = append(out.Body.Windows, boxWindow{Until: list.AdoptionUntil})
	}
	for _, w := range list.Windows {
		out.Body.Windows = append(out.Body.Windows, boxWindow{NetworkID: &w.NetworkID, Until: w.Until})
	}
	out.Body.Intakes = boxIntakes(list.Intakes)
	out.Body.Networks, err = b.networks(ctx)
	return out, err
}

func boxDeviceOf(d *fleet.DeviceState) boxDevice {
	shown := boxDevice{ID: d.ID, Kind: d.Kind, Name: cmp.Or(motion.NodeTitle(d.ID, false), d.NodeName), State: d.State, Why: d.Why, Address: d.Address, LastSeen: knownTime(d.LastHeard)}
	if d.State == "pending" {
		shown.State = "waiting"
	}
	if d.Node != nil {
		shown.Node = nodeView(d.ID, d.Node.Guarded())
	}
	if d.Entry != nil {
		shown.Entry = &d.Entry.ID
	}
	if d.NetworkID != 0 {
		shown.NetworkID = &d.NetworkID
	}
	return shown
}

type boxEntryPath struct {
	Entry string `path:"entry" maxLength:"64" doc:"Of a device that waits" example:"k7q2mzda"`
}

func (b *Browser) boxAdopt(ctx context.Context, who auth.Administrator, in *boxEntryPath) (*struct{}, error) {
	_, err := b.Box.Adopt(ctx, who.Actor, in.Entry)
	return nil, err
}

type boxDevicePath struct {
	ID string `path:"id" maxLength:"128" doc:"Device id" example:"csi-a-02aa00000210"`
}

func (b *Browser) boxRemoveDevice(ctx context.Context, who auth.Administrator, in *boxDevicePath) (*struct{}, error) {
	return nil, b.Box.RemoveDevice(ctx, who.Actor, in.ID)
}

type boxAdoptionIn struct {
	Body struct {
		Minutes   int               `json:"minutes" minimum:"1" maximum:"1440" example:"10"`
		NetworkID *motion.NetworkID `json:"network_id,omitempty" nullable:"true" minimum:"1" doc:"null: networks without an owner, and new ones" example:"17"`
	}
}

func (b *Browser) boxOpenAdoption(ctx context.Context, who auth.Administrator, in *boxAdoptionIn) (*struct{}, error) {
	network := motion.NetworkID(0)
	if in.Body.NetworkID != nil {
		network = *in.Body.NetworkID
	}
	_, err := b.Box.OpenAdoption(ctx, who.Actor, network, motion.Seconds(60*in.Body.Minutes))
	return nil, err
}

type boxLink struct {
	NetworkID motion.NetworkID `json:"network_id" example:"17"`
	Link      string           `json:"link" example:"134-135"`
	From      string           `json:"from" doc:"Name of the node at one end" example:"GWA1000133"`
	To        string           `json:"to" doc:"Name of the node or leaf at the other" example:"Plug hall"`
	Can       string           `json:"can" doc:"decides, supports or blind" example:"blind"`
	Reasons   []sensing.Reason `json:"reasons" nullable:"false" doc:"What stands in the way, in coarse figures"`

	Unauthenticated bool `json:"unauthenticated" doc:"One of its nodes does not log in, so anybody on the Wi-Fi can imitate it"`
}

type boxLinksOut struct {
	Body struct {
		Links []boxLink `json:"links" nullable:"false" doc:"As they were at the last quarter of an hour: finer figures tell when somebody is at home"`
	}
}

func (b *Browser) boxLinks(ctx context.Context, who auth.Administrator, _ *struct{}) (*boxLinksOut, error) {
	networks, err := b.networks(ctx)
	if err != nil {
		return nil, err
	}
	out := &boxLinksOut{}
	out.Body.Links = []boxLink{}
	for _, n := range networks {
		links, err := b.Household.Links(ctx, n.ID, household.Viewer{User: who.ID})
		if fault.KindOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		for i := range links {
			l := &links[i]
			shown := boxLink{NetworkID: n.ID, Link: l.Link, From: l.From.Name, To: l.To.Name, Can: l.Can, Unauthenticated: l.Unauthenticated}
			shown.Reasons = []sensing.Reason{}
			for _, r := range l.Reasons {
				shown.Reasons = append(shown.Reasons, byTheMinute(r))
			}
			out.Body.Links = append(out.Body.Links, shown)
		}
	}
	return out, nil
}

// byTheMinute returns a reason whose lengths of time are whole minutes.
func byTheMinute(r sensing.Reason) sensing.Reason {
	figures := sensing.Figures{}
	for name, v := range r.Figures {
		if strings.HasSuffix(name, "_s") {
			v = 60 * math.Round(v/60)
		}
		figures[name] = v
	}
	return sensing.Reason{Code: r.Code, Figures: figures}
}

type boxCalibrateIn struct {
	Body struct {
		NetworkID motion.NetworkID `json:"network_id" minimum:"1" example:"17"`
		Link      string           `json:"link,omitempty" maxLength:"64" doc:"Empty: all" example:"134-135"`
	}
}

func (b *Browser) boxCalibrate(ctx context.Context, who auth.Administrator, in *boxCalibrateIn) (*struct{}, error) {
	_, err := b.Box.Calibrate(ctx, who.Actor, in.Body.NetworkID, in.Body.Link, false)
	return nil, err
}

type boxEndCalibrationsIn struct {
	NetworkID motion.NetworkID `query:"network_id" minimum:"1" doc:"Network" example:"17"`
	Link      string           `query:"link" maxLength:"64" doc:"Left out: all" example:"134-135"`
}

func (b *Browser) boxEndCalibrations(ctx context.Context, who auth.Administrator, in *boxEndCalibrationsIn) (*struct{}, error) {
	_, err := b.Box.Calibrate(ctx, who.Actor, in.NetworkID, in.Link, true)
	return nil, err
}
