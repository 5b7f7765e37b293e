package store

import (
	"cmp"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// integrations is the table of third-party accounts, at most one of each home.
var integrations = table[sensor.ID, sensor.Integration]{
	name: "sensor_integrations", noun: "sensor integration", key: key32[sensor.ID],
	indexes: []index[sensor.Integration]{
		{
			name: "sensor_integrations_by_home", noun: "network", unique: true,
			keys: func(i sensor.Integration) [][]byte { return [][]byte{key32(i.Home)} },
		},
		{
			name: "sensor_integrations_by_account", noun: "userThingName", unique: true,
			keys: func(i sensor.Integration) [][]byte { return [][]byte{keyText(i.Account.UserThingName)} },
		},
	},
}

// farewells is the table of accounts that are to be deleted at their providers.
var farewells = table[string, sensor.PendingDeletion]{name: "sensor_farewells", noun: "account", key: keyText}

// sensorCursors is the table of how far the messages of providers have been taken.
var sensorCursors = table[string, string]{name: "sensor_cursors", noun: "cursor", key: keyText}

// PutIntegration stores the integration of an existing home: under the next id when it
// has none. CreatedAt is set to now when it is new, UpdatedAt always. A home has one.
func (tx *Tx) PutIntegration(i sensor.Integration) (sensor.Integration, error) {
	if _, err := tx.Home(i.Home); err != nil {
		return i, err
	}
	if i.ID == 0 {
		sequence, err := tx.bucket(integrations.name).NextSequence()
		if err != nil {
			return i, err
		}
		i.ID, i.CreatedAt = sensor.ID(sequence), tx.now.Stamp()
	}
	i.UpdatedAt = tx.now.Stamp()
	return i, integrations.put(tx, i.ID, i)
}

// IntegrationOf returns the integration of a home and whether there is one.
func (tx *Tx) IntegrationOf(h home.ID) (sensor.Integration, bool, error) {
	return integrations.by(tx, "sensor_integrations_by_home", key32(h))
}

// IntegrationByAccount returns the integration with the account and whether there is
// one.
func (tx *Tx) IntegrationByAccount(userThingName string) (sensor.Integration, bool, error) {
	return integrations.by(tx, "sensor_integrations_by_account", keyText(userThingName))
}

// Integrations returns all integrations, by id.
func (tx *Tx) Integrations() ([]sensor.Integration, error) { return integrations.all(tx, nil) }

// deleteIntegrationOf removes the integration of a home, if there is one.
func (tx *Tx) deleteIntegrationOf(h home.ID) error {
	if _, ok, err := tx.IntegrationOf(h); err != nil || !ok {
		return err
	}
	return tx.DeleteIntegration(h)
}

// DeleteIntegration removes the integration of a home with its devices and their
// detections. Its account is noted as one to be deleted at the provider.
func (tx *Tx) DeleteIntegration(h home.ID) error {
	i, ok, err := tx.IntegrationOf(h)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "sensor integration of network %d: not found", h)
	}
	if err != nil {
		return err
	}
	_, moved, err := tx.Handover(i.Network)
	if err != nil {
		return err
	}
	if i.Account.UserThingName != "" && !moved { // the other box goes on with it
		if err := tx.PutPendingDeletion(sensor.PendingDeletion{Provider: i.Provider, Account: i.Account, Due: tx.now}); err != nil {
			return err
		}
	}
	devices, err := tx.Sensors(h)
	err = each(devices, err, func(d sensor.Device) error { return tx.DeleteSensor(h, d.ThingName) })
	return cmp.Or(err, integrations.delete(tx, i.ID))
}

// PutPendingDeletion notes an account that is to be deleted at its provider.
func (tx *Tx) PutPendingDeletion(f sensor.PendingDeletion) error {
	return farewells.put(tx, f.Account.UserThingName, f)
}

// PendingDeletions returns the accounts that are to be deleted at their providers.
func (tx *Tx) PendingDeletions() ([]sensor.PendingDeletion, error) { return farewells.all(tx, nil) }

// DeletePendingDeletion removes the note of an account, if there is one.
func (tx *Tx) DeletePendingDeletion(userThingName string) error {
	return farewells.delete(tx, userThingName)
}

// SensorCursor returns how far the messages of a provider have been taken, "" at first.
func (tx *Tx) SensorCursor(provider string) (string, error) {
	cursor, _, err := sensorCursors.get(tx, provider)
	return cursor, err
}

// PutSensorCursor stores how far the messages of a provider have been taken.
func (tx *Tx) PutSensorCursor(provider, cursor string) error {
	return sensorCursors.put(tx, provider, cursor)
}

// sensors is the table of hubs and sensors.
var sensors = table[sensor.DeviceID, sensor.Device]{
	name: "sensors", noun: "device", key: key32[sensor.DeviceID],
	indexes: []index[sensor.Device]{{
		name: "sensors_by_home", noun: "thing name", unique: true,
		keys: func(d sensor.Device) [][]byte { return [][]byte{keyThing(d.Home, d.ThingName)} },
	}},
}

// keyThing orders the things of a home by name.
func keyThing(h home.ID, thing string) []byte { return join(key32(h), keyText(thing)) }

// PutSensor stores a hub or sensor of an existing home: under the next id when it has
// none. CreatedAt is set to now when it is new, UpdatedAt always.
func (tx *Tx) PutSensor(d sensor.Device) (sensor.Device, error) {
	if _, err := tx.Home(d.Home); err != nil {
		return d, err
	}
	if d.ID == 0 {
		sequence, err := tx.bucket(sensors.name).NextSequence()
		if err != nil {
			return d, err
		}
		d.ID, d.CreatedAt = sensor.DeviceID(sequence), tx.now.Stamp()
	}
	d.UpdatedAt = tx.now.Stamp()
	return d, sensors.put(tx, d.ID, d)
}

// Sensor returns the hub or sensor of a home with the thing name.
func (tx *Tx) Sensor(h home.ID, thing string) (sensor.Device, error) {
	d, ok, err := sensors.by(tx, "sensors_by_home", keyThing(h, thing))
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "device %.128q: not found", thing)
	}
	return d, err
}

// Sensors returns the hubs and sensors of a home, by thing name.
func (tx *Tx) Sensors(h home.ID) ([]sensor.Device, error) {
	return sensors.allBy(tx, "sensors_by_home", key32(h))
}

// DeleteSensor removes a hub or sensor with its detections. The sensors of a hub stay.
func (tx *Tx) DeleteSensor(h home.ID, thing string) error {
	d, err := tx.Sensor(h, thing)
	if err != nil {
		return err
	}
	if err := tx.deleteDetections(d.ID); err != nil {
		return err
	}
	return sensors.delete(tx, d.ID)
}
