package core

import (
	"context"
	"encoding/json"
	"maps"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
)

type deviceInfoIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Body    deviceDescription
	RawBody []byte
}

// deviceDescription is what another service knows of a client device (payloads.md 4.11).
type deviceDescription struct {
	MAC         motion.MAC `json:"mac" doc:"Of the client" example:"02:bb:00:00:00:31"`
	Hostname    string     `json:"hostname,omitempty" maxLength:"256" example:"kitchen-speaker"`
	DeviceType  string     `json:"device_type,omitempty" maxLength:"256" example:"Smart speaker"`
	OS          string     `json:"os,omitempty" maxLength:"256" example:"linux"`
	Name        string     `json:"name,omitempty" maxLength:"256" example:"Speaker"`
	Category    string     `json:"category,omitempty" maxLength:"256" example:"speaker"`
	Brand       string     `json:"brand,omitempty" maxLength:"256" example:"Acme"`
	Model       string     `json:"model,omitempty" maxLength:"256" example:"S1"`
	ModelNumber string     `json:"modelNumber,omitempty" maxLength:"256" example:"S1-CA"`
	TS          float64    `json:"ts,omitempty" minimum:"0" maximum:"281474976710" doc:"When it was found out, seconds since the epoch; default: now" example:"1764000000.0"`
}

// describeDevice answers with what was sent, as it was sent.
func (c *Core) describeDevice(ctx context.Context, _ auth.Key, in *deviceInfoIn) (*api.Answer[api.Encoded[deviceDescription]], error) {
	b := in.Body
	err := c.engine.Devices.DescribeDevice(ctx, in.Network, motion.DeviceInfo{
		MAC: b.MAC, Hostname: b.Hostname, DeviceType: b.DeviceType, OS: b.OS, Name: b.Name, Category: b.Category,
		Brand: b.Brand, Model: b.Model, ModelNumber: b.ModelNumber, TS: motion.Time(b.TS),
	})
	if err != nil {
		return nil, err
	}
	var sent map[string]any
	if err := json.Unmarshal(in.RawBody, &sent); err != nil {
		return nil, err
	}
	maps.DeleteFunc(sent, func(_ string, value any) bool { return value == nil })
	return api.Answered[api.Encoded[deviceDescription]](json.Marshal(sent))
}
