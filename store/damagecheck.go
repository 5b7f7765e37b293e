package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// checkRecords verifies that every record can be read and that every index agrees
// with its table, until ctx ends, whose error it returns then. Events and detections that
// cannot be read are counted: no backup is worth more than the others. Samples carry
// checksums of their own and are left out when they are damaged.
func (tx *Tx) checkRecords(ctx context.Context) error {
	if err := tx.checkMeta(); err != nil {
		return err
	}
	for _, check := range recordChecks() {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// checkMeta verifies the facts about the file itself.
func (tx *Tx) checkMeta() error {
	err := tx.bucket(metaBucket).ForEach(func(key, value []byte) error {
		if !json.Valid(value) {
			return fmt.Errorf("decode %q of %s: it is no JSON", key, metaBucket)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var a age
	return tx.getMeta(ageKey, &a)
}

// recordChecks returns the checks of all tables: first of those that a start reads,
// then of the history.
func recordChecks() []func(context.Context, *Tx) error {
	return []func(context.Context, *Tx) error{
		networks.check, nodes.check, radars.check, leafs.check, links.check, status.check, statusHeard.check,
		devices.check, heard.check, deviceTokens.check, pending.check,
		apiKeys.check, integrationUsers.check, detectorStates.check, eventStates.check,
		alerts.check, pushes.check, applicationSettings.check,
		users.check, homes.check, memberships.check, sessions.check, familiar.check,
		invitations.check, homeLocations.check, homeMeta.check, userMeta.check, sceneConfigs.check,
		mails.check, mobiles.check, deliveries.check,
		integrations.check, farewells.check, sensorCursors.check, sensors.check,
		commands.check, batches.check, armed.check, events.check, detections.check,
	}
}
