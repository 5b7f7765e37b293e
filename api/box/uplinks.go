package box

import (
	"context"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// uplinks returns the uplinks. Unavailable: the appliance does not run.
func (b *Box) uplinks() (*uplink.Set, error) {
	if b.Uplinks == nil {
		return nil, fault.New(fault.Unavailable, "the appliance does not run: start it, and then look after its uplinks")
	}
	return b.Uplinks, nil
}

// ListUplinks returns all uplinks with how they are, without passwords. Unavailable: the appliance does
// not run.
func (b *Box) ListUplinks() ([]uplink.State, error) {
	set, err := b.uplinks()
	if err != nil {
		return nil, err
	}
	return set.List(), nil
}

// AddUplink makes an uplink and connects it. Invalid: its mistakes.
func (b *Box) AddUplink(ctx context.Context, by store.Actor, c uplink.Config) error {
	return b.changeUplink(ctx, by, "uplink_added", c.Name, &c, func(ctx context.Context, set *uplink.Set) error { return set.Add(ctx, c) })
}

// ChangeUplink replaces an uplink of the app by another of the same name; an empty password or key stays
// what it was. NotFound; Conflict: it stands in the configuration; Invalid: the mistakes.
func (b *Box) ChangeUplink(ctx context.Context, by store.Actor, name string, c uplink.Config) error {
	return b.changeUplink(ctx, by, "uplink_changed", name, &c, func(ctx context.Context, set *uplink.Set) error { return set.Change(ctx, name, c) })
}

// RemoveUplink ends and forgets an uplink of the app. NotFound; Conflict: it stands in the
// configuration.
func (b *Box) RemoveUplink(ctx context.Context, by store.Actor, name string) error {
	return b.changeUplink(ctx, by, "uplink_removed", name, nil, func(ctx context.Context, set *uplink.Set) error { return set.Remove(ctx, name) })
}

// changeUplink is change of an uplink; c is what it becomes, nil: nothing.
func (b *Box) changeUplink(ctx context.Context, by store.Actor, action, name string, c *uplink.Config, do func(context.Context, *uplink.Set) error) error {
	set, err := b.uplinks()
	if err != nil {
		return err
	}
	return b.change(ctx, by, action, name, func(ctx context.Context, note *store.AuditNote) error {
		if c != nil {
			uses := make([]string, len(c.Use))
			for i, use := range c.Use {
				uses[i] = string(use)
			}
			note.Add("host", c.Host())
			note.Add("use", strings.Join(uses, " "))
			if c.Own() {
				check := func(tx *store.Tx) error { return tx.CheckShown(c.Shows(set.BaseOf(*c))) }
				if err := b.DB.View(ctx, check); err != nil {
					return err
				}
			}
		}
		if err := do(ctx, set); err != nil || b.Entities == nil {
			return err
		}
		return b.Engine.Devices.MoveHomeAssistants(context.WithoutCancel(ctx), b.Entities())
	})
}

// TestUplink tries a configuration and returns what of it works, up to the first step that does not.
// Invalid: its mistakes.
func (b *Box) TestUplink(ctx context.Context, c uplink.Config) ([]uplink.TestStep, error) {
	set, err := b.uplinks()
	if err != nil {
		return nil, err
	}
	return set.Test(ctx, c)
}

// TestNamedUplink is TestUplink of one that is there. NotFound.
func (b *Box) TestNamedUplink(ctx context.Context, name string) ([]uplink.TestStep, error) {
	set, err := b.uplinks()
	if err != nil {
		return nil, err
	}
	return set.TestNamed(ctx, name)
}
