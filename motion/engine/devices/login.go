package devices

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Login checks the token that a connecting client shows as the device with that
// id, and returns which device it is.
func (f *Fleet) Login(ctx context.Context, id, token string) (motion.DeviceKey, error) {
	for _, kind := range []motion.DeviceKind{motion.RadarKind, motion.Guardian} {
		key := motion.DeviceKey{Kind: kind, ID: id}
		if err := f.here(ctx, key); err != nil {
			return motion.DeviceKey{}, err
		}
		err := f.state.DB.CheckToken(ctx, key, token)
		if fault.KindOf(err) == fault.Unauthorized {
			continue
		}
		if err != nil {
			return motion.DeviceKey{}, err
		}
		return key, f.begin(ctx, key)
	}
	return motion.DeviceKey{}, fault.New(fault.Unauthorized, "wrong token: post to the gatekeeper again for a new one")
}

// here returns a fault for an adopted device whose network goes, or has gone, to another box:
// Unavailable as long as it is to wait, Unauthorized when the gatekeeper will send it there. Its
// tokens stay as they are in the copy.
func (f *Fleet) here(ctx context.Context, key motion.DeviceKey) error {
	device, err := f.adopted(ctx, key)
	if err != nil {
		return nil // CheckToken knows
	}
	switch to, refuses := f.state.Away(device.NetworkID); {
	case refuses && to == "":
		return fault.New(fault.Unavailable, "the network is on its way to another box: wait")
	case refuses:
		return fault.New(fault.Unauthorized, "the network has moved to another box: post to the gatekeeper, which sends you there")
	}
	return nil
}

// begin makes the session of a device whose token is right. It looks for the device
// once more afterwards: RemoveDevice, which ends sessions after its commit, cannot have
// ended one that was not there yet.
func (f *Fleet) begin(ctx context.Context, key motion.DeviceKey) error {
	device, err := f.adopted(ctx, key)
	if err != nil {
		return err
	}
	f.state.BeginSession(device)
	if _, err = f.adopted(ctx, key); err == nil {
		err = f.here(ctx, key)
	}
	if err != nil {
		f.state.Forget(key)
	}
	return err
}

// adopted returns the record of an adopted device; Unauthorized when it is none.
func (f *Fleet) adopted(ctx context.Context, key motion.DeviceKey) (device motion.Device, err error) {
	err = f.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		device, err = tx.Device(key)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.Unauthorized, "device %s was removed", key)
	}
	return device, err
}

// RemoveUser deletes an integration user and ends its sessions.
func (f *Fleet) RemoveUser(ctx context.Context, name string) error {
	return f.state.DB.Update(ctx, func(tx *store.Tx) error { return f.EndUser(tx, name) })
}

// MoveHomeAssistants gives the users by which Home Assistants connect the topics where the entities are.
// They log in anew.
func (f *Fleet) MoveHomeAssistants(ctx context.Context, to motion.UserTopics) error {
	var moved []string
	users, err := store.Read(ctx, f.state.DB, (*store.Tx).IntegrationUsers)
	if err != nil || !slices.ContainsFunc(users, func(u store.IntegrationUser) bool { return u.Discovery != "" }) {
		return err
	}
	err = f.state.DB.Update(ctx, func(tx *store.Tx) (err error) {
		moved, err = tx.MoveHomeAssistants(to)
		return err
	})
	for _, name := range moved {
		f.state.Outbound.DisconnectUser(name, "its topics have changed")
	}
	return err
}

// EndUser deletes an integration user in a transaction; its sessions end after the commit.
func (f *Fleet) EndUser(tx *store.Tx, name string) error {
	if err := tx.DeleteIntegrationUser(name); err != nil {
		return err
	}
	tx.OnCommit(func() { f.state.Outbound.DisconnectUser(name, "user removed") })
	return nil
}

// EndUsersOf is EndUser for the users that owners of a home have made, if there are any.
func (f *Fleet) EndUsersOf(tx *store.Tx, h home.ID) error {
	names, err := tx.DeleteIntegrationUsersOf(h)
	if err != nil || len(names) == 0 {
		return err
	}
	tx.OnCommit(func() {
		for _, name := range names {
			f.state.Outbound.DisconnectUser(name, "user removed")
		}
		f.state.Log.Info("MQTT users of a home ended", "home", h, "users", names)
	})
	return nil
}

// LoginUser checks the password of an integration user and returns its topics.
func (f *Fleet) LoginUser(ctx context.Context, name, password string) (topics motion.UserTopics, err error) {
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		user, err := tx.CheckIntegrationUser(name, password)
		topics = motion.UserTopics{Prefix: user.TopicPrefix, Discovery: user.Discovery}
		return err
	})
	return topics, err
}
