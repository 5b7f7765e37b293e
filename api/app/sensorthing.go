package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

type sensorsOut struct {
	Body struct {
		Devices []sensor.Device `json:"devices" nullable:"false"`
	}
}

func (a *App) sensors(ctx context.Context, m auth.Member, _ *NetworkQuery) (*sensorsOut, error) {
	var out sensorsOut
	var err error
	out.Body.Devices, err = a.Sensors.Devices(ctx, m.Home)
	return &out, err
}

// SensorPath names a hub or a sensor.
type SensorPath struct {
	NetworkQuery
	Thing string `path:"thing_name" maxLength:"128" doc:"Thing name of the hub or sensor" example:"SENSOR_02CC00FFFE000001"`
}

func (a *App) sensor(ctx context.Context, m auth.Member, in *SensorPath) (*api.Answer[sensor.Device], error) {
	return api.Answered(a.Sensors.Device(ctx, m.Home, in.Thing))
}

// SensorSettings is what can be set of a hub or sensor. Apps send back what they got:
// what cannot be set is read and not used.
type SensorSettings struct {
	Notify           *bool    `json:"notify,omitempty" doc:"Must be sent. true: detections are kept from now on; false: no more, and those that were kept stay" example:"true"`
	FriendlyName     *string  `json:"friendlyName,omitempty" maxLength:"256" example:"Front door"`
	Location         *string  `json:"location,omitempty" maxLength:"256" example:"Hallway"`
	TemperatureDelta *float64 `json:"temperatureDelta,omitempty" minimum:"0.1" maximum:"50" doc:"Change of temperature that is kept, °C" example:"1"`
	HumidityDelta    *float64 `json:"humidityDelta,omitempty" minimum:"1" maximum:"100" doc:"Change of humidity that is kept, percent" example:"5"`
	EmailNotify      *bool    `json:"emailNotify,omitempty" doc:"Not used: always false"`
	Online           *bool    `json:"online,omitempty" doc:"Not used"`
	Status           *string  `json:"status,omitempty" maxLength:"64" doc:"Not used"`
	BatteryLevel     *float64 `json:"batteryLevel,omitempty" doc:"Not used"`
	Temperature      *float64 `json:"temperature,omitempty" doc:"Not used"`
	Humidity         *float64 `json:"humidity,omitempty" doc:"Not used"`
}

type patchSensorIn struct {
	SensorPath
	Body struct {
		NetworkField
		Purpose *sensor.Purpose `json:"purpose,omitempty" enum:"FrontDoorVibration,BackDoorVibration,SideDoorVibration,RefrigeratorVibration,BathroomSensor,DoorSensor,MainHub,SecondaryHub," doc:"What it is used for; absent: as before" example:"DoorSensor"`
		Config  *SensorSettings `json:"config,omitempty" doc:"The settings; they may stand beside it instead"`
		SensorSettings
	}
}

func (a *App) patchSensor(ctx context.Context, m auth.Member, in *patchSensorIn) (*api.Answer[sensor.Device], error) {
	settings := in.Body.SensorSettings
	if in.Body.Config != nil {
		settings = *in.Body.Config
	}
	return api.Answered(a.Sensors.ChangeDevice(ctx, m.Home, in.Thing, sensor.DeviceEdit{
		Notify: settings.Notify, Purpose: in.Body.Purpose, FriendlyName: settings.FriendlyName, Location: settings.Location,
		TemperatureDelta: settings.TemperatureDelta, HumidityDelta: settings.HumidityDelta,
	}))
}

func (a *App) deleteSensor(ctx context.Context, m auth.Member, in *SensorPath) (*struct{}, error) {
	return nil, a.Sensors.RemoveDevice(ctx, m.Home, in.Thing)
}

// SensorWindow is the stretch of time of a history of sensors.
type SensorWindow struct {
	From api.Opt[float64] `query:"from" minimum:"0" doc:"No older ones, seconds since the epoch (UTC)" example:"1763913600"`
	To   api.Opt[float64] `query:"to" minimum:"0" doc:"No newer ones, seconds since the epoch (UTC)" example:"1795000000"`
}

type detectionsOut struct {
	Body struct {
		Detections []sensor.Detection `json:"detections" nullable:"false"`
	}
}

// history answers with the detections of the caller's home, or of one sensor, since it
// was last claimed.
func (w SensorWindow) history(ctx context.Context, a *App, m auth.Member, thing string) (*detectionsOut, error) {
	if w.From.Set && w.To.Set && w.From.Value > w.To.Value {
		return nil, fault.At("query.from", w.From.Value, "must not be after to")
	}
	from, to := motion.Time(w.From.Value), motion.Time(w.To.Value)
	var out detectionsOut
	var err error
	out.Body.Detections, err = a.Sensors.History(ctx, m.Home, thing, m.Since, from, to)
	return &out, err
}

type sensorHistoryIn struct {
	NetworkQuery
	SensorWindow
}

func (a *App) sensorHistory(ctx context.Context, m auth.Member, in *sensorHistoryIn) (*detectionsOut, error) {
	return in.history(ctx, a, m, "")
}

type oneSensorHistoryIn struct {
	SensorPath
	SensorWindow
}

func (a *App) oneSensorHistory(ctx context.Context, m auth.Member, in *oneSensorHistoryIn) (*detectionsOut, error) {
	return in.history(ctx, a, m, in.Thing)
}
