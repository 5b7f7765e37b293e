package box

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/devices"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/store"
)

// DeviceList is all devices of the appliance, and when new ones are let in.
type DeviceList struct {
	Devices       []devices.DeviceState `json:"devices"`
	AdoptionUntil motion.Time           `json:"adoption_until"` // networks without an owner adopt devices by themselves until then
	Open          bool                  `json:"adoption_open"`
	Windows       []devices.Window      `json:"adoption_windows"` // open ones of single networks

	Intakes []motion.IntakeFigures `json:"intakes"` // where nodes of other makers are listened for
}

// Devices returns all devices of the appliance.
func (b *Box) Devices(ctx context.Context) (DeviceList, error) {
	list, until, err := b.Engine.Devices.DeviceList(ctx)
	if err != nil {
		return DeviceList{}, err
	}
	windows, err := b.Engine.Devices.Windows(ctx)
	all := DeviceList{Devices: list, AdoptionUntil: until, Open: until > motion.TimeOf(time.Now()), Windows: windows}
	if b.Nodes != nil { // a command that opens the database itself listens nowhere
		all.Intakes = b.Nodes.Figures()
	}
	return all, err
}

// Nodes are the nodes of other makers.
type Nodes interface {
	// Figures returns what arrives where they are listened for.
	Figures() []motion.IntakeFigures
	// Identity returns the device_id of a node of ESPectre.
	Identity(deviceID string) (string, error)
	// PointHere has a node of ESPectre publish to the broker of this box as a user of that.
	PointHere(ctx context.Context, deviceID, user, password string) error
}

// ConnectNode has a node of ESPectre with the Native frontend publish to the broker of this box, with a user of its
// own, whose name it returns; that of before is replaced. NotFound: there is no such node. Conflict: it has
// another frontend. Unavailable: it is not reached.
func (b *Box) ConnectNode(ctx context.Context, by store.Actor, deviceID string) (user string, err error) {
	if b.Nodes == nil {
		return "", fault.New(fault.Unavailable, "the appliance does not run")
	}
	id, err := b.Nodes.Identity(deviceID)
	if err != nil {
		return "", err
	}
	user = "espectre-" + id
	if err := b.RemoveMQTTUser(ctx, by, user); err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	_, password, err := b.CreateMQTTUser(ctx, by, user, "espectre/v1/devices/"+id)
	if err != nil {
		return "", err
	}
	if err := b.Nodes.PointHere(ctx, deviceID, user, password); err != nil {
		return "", errors.Join(err, b.RemoveMQTTUser(ctx, by, user))
	}
	return user, nil
}

// Adopt lets a device in that waits, named by its entry or its device id. NotFound: none waits by
// that name.
func (b *Box) Adopt(ctx context.Context, by store.Actor, name string) (p motion.PendingDevice, err error) {
	err = b.change(ctx, by, "device_adopted", name, func(ctx context.Context, note *store.AuditNote) (err error) {
		p, err = b.Engine.Devices.Adopt(ctx, name, 0)
		if err == nil && !note.Written() {
			note.About(p.DeviceID)
		}
		return err
	})
	return p, err
}

// RemoveDevice removes a device. NotFound: there is none.
func (b *Box) RemoveDevice(ctx context.Context, by store.Actor, id string) error {
	return b.change(ctx, by, "device_removed", id, func(ctx context.Context, _ *store.AuditNote) error {
		return b.Engine.Devices.RemoveDevice(ctx, id)
	})
}

// OpenAdoption lets new devices into a network for a time, 0: into networks without an owner and into
// new ones. It returns until when.
func (b *Box) OpenAdoption(ctx context.Context, by store.Actor, network motion.NetworkID, length motion.Seconds) (until motion.Time, err error) {
	err = b.change(ctx, by, "adoption_opened", "network "+networkWord(network), func(ctx context.Context, note *store.AuditNote) (err error) {
		note.Add("seconds", fmt.Sprint(int64(length)))
		until, err = b.Engine.Devices.OpenAdoption(ctx, network, length)
		return err
	})
	return until, err
}

// Links returns how each link of a network senses, 0: of all.
func (b *Box) Links(network motion.NetworkID) ([]sensing.LinkState, error) {
	return b.Engine.Sensing.ExplainLinks(network)
}

// Calibrate begins calibrations of a network's links, or with cancel ends them: of one link, or of
// all (""). It returns of how many.
func (b *Box) Calibrate(ctx context.Context, by store.Actor, network motion.NetworkID, link string, cancel bool) (links int, err error) {
	action, do := "calibration_begun", b.Engine.Sensing.Calibrate
	if cancel {
		action, do = "calibration_cancelled", b.Engine.Sensing.CancelCalibration
	}
	about := fmt.Sprint("network ", network)
	if link != "" {
		about += ", " + link
	}
	err = b.change(ctx, by, action, about, func(context.Context, *store.AuditNote) (err error) {
		links, err = do(network, link)
		return err
	})
	return links, err
}
