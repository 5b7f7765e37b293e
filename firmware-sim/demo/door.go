package demo

import (
	"context"
	"fmt"

	"sensegate/firmware-sim/zigbee"
	"sensegate/motion"
)

// frontDoor is the door sensor of the home, at a Zigbee2MQTT bridge that connects to the
// appliance's broker as a bought one would.
type frontDoor struct {
	appliance Appliance
	bridge    *zigbee.Bridge
	stop      context.CancelFunc
	ended     chan struct{} // closed once the bridge has ended, with err
	err       error
}

// hang starts the bridge.
func (d *frontDoor) hang(ctx context.Context) error {
	password, err := d.appliance.Bridge(ctx, zigbee.Base)
	if err != nil {
		return fmt.Errorf("let the zigbee bridge in: %w", err)
	}
	d.bridge = zigbee.New(here(d.appliance.MQTT()), zigbee.Base, password)
	ctx, d.stop = context.WithCancel(ctx)
	d.ended = make(chan struct{})
	go func() {
		d.err = d.bridge.Run(ctx)
		close(d.ended)
	}()
	return nil
}

// place gives the sensor its place once the appliance knows it; the home has an owner.
func (d *frontDoor) place(ctx context.Context, network motion.NetworkID) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return fmt.Errorf("the zigbee bridge ended: %w", d.err)
	case <-d.bridge.Ready():
	}
	if err := d.appliance.PlaceSensor(ctx, network, zigbee.Door, "Hallway", "Front door"); err != nil {
		return fmt.Errorf("place the door sensor: %w", err)
	}
	return nil
}

// open lets somebody come in, if there is a door.
func (d *frontDoor) open() {
	if d.bridge != nil {
		d.bridge.Open()
	}
}

// shut ends the bridge. A bridge that cannot say goodbye is as gone as one without power.
func (d *frontDoor) shut() {
	if d.bridge == nil {
		return
	}
	d.stop()
	<-d.ended
}
