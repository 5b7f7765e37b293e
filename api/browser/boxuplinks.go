package browser

import (
	"context"
	"slices"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/uplink"
)

type boxUplink struct {
	Name       string             `json:"name" example:"homeassistant"`
	URL        string             `json:"url" example:"mqtt://homeassistant.local:1883"`
	To         string             `json:"to" doc:"Host and port; own: the appliance's own broker" example:"homeassistant.local:1883"`
	Uses       []uplink.Use       `json:"uses" nullable:"false" doc:"home_assistant, events, history, live, commands"`
	Networks   []motion.NetworkID `json:"networks" nullable:"false" doc:"Empty: all"`
	Username   string             `json:"username" example:"sensegate"`
	Password   bool               `json:"has_password" doc:"Whether there is one"`
	Prefix     string             `json:"prefix" doc:"Of every topic; empty: sensegate" example:""`
	CA         string             `json:"ca" doc:"Certificates (PEM) that the broker's must come from, or the name of their file; empty: the system's" example:""`
	Configured bool               `json:"configured" doc:"It stands in the configuration, and can be changed there alone"`
	State      uplink.Phase       `json:"state" enum:"connecting,connected,waiting" example:"connected"`
	Since      *motion.Time       `json:"since" nullable:"true" example:"1764000060"`
	Wrong      string             `json:"wrong" doc:"What is wrong, in English; empty: nothing" example:""`
	Why        string             `json:"why" doc:"Code of that (docs/uplinks.md); empty: it has none" example:""`
	Waiting    int                `json:"waiting" doc:"Messages that wait to be sent" example:"0"`
	Sent       uint64             `json:"sent" doc:"Messages since the start" example:"1204"`
	Dropped    uint64             `json:"dropped" doc:"Live messages that were not sent in time" example:"0"`
	Missing    uint64             `json:"missing" doc:"Events that were no longer kept when it was their turn" example:"0"`
}

type boxUplinksOut struct {
	Body struct {
		Uplinks  []boxUplink  `json:"uplinks" nullable:"false"`
		Networks []boxNetwork `json:"networks" nullable:"false" doc:"That an uplink can be about"`
	}
}

func (b *Browser) boxUplinks(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxUplinksOut, error) {
	out := &boxUplinksOut{}
	out.Body.Uplinks = []boxUplink{}
	list, err := b.Box.ListUplinks()
	if err != nil {
		return nil, err
	}
	for _, u := range list {
		shown := boxUplink{
			Name: u.Config.Name, To: u.Host, Uses: u.Config.Use, Networks: u.Config.Networks, URL: u.Config.URL, Username: u.Config.Username,
			Password: u.HasPassword, Prefix: u.Config.Prefix, CA: u.Config.CA, Configured: u.Origin == uplink.OfConfiguration,
			State: u.Phase, Since: knownTime(u.Since), Wrong: u.Error, Why: u.ErrorCode, Waiting: u.Queue, Sent: u.Sent, Dropped: u.Dropped, Missing: u.Missing,
		}
		if u.Config.Own() {
			shown.To = u.Config.URL
		}
		if shown.Networks == nil {
			shown.Networks = []motion.NetworkID{}
		}
		out.Body.Uplinks = append(out.Body.Uplinks, shown)
	}
	out.Body.Networks, err = b.networks(ctx)
	return out, err
}

type uplinkIn struct{ Body uplinkBody }

type uplinkBody struct {
	Name     string             `json:"name" maxLength:"32" doc:"Of a-z, 0-9, _ and -" example:"homeassistant"`
	URL      string             `json:"url" maxLength:"1024" doc:"mqtt://host[:port], mqtts://, ws://, wss://; http:// or https:// of a Prometheus Remote Write receiver; own: the appliance's own broker" example:"mqtt://homeassistant.local:1883"`
	Username string             `json:"username,omitempty" maxLength:"256" example:"sensegate"`
	Password string             `json:"password,omitempty" maxLength:"1024" example:"correct horse"`
	Networks []motion.NetworkID `json:"networks,omitempty" maxItems:"1000" doc:"Empty: all"`
	Uses     []uplink.Use       `json:"uses" nullable:"false" maxItems:"8" doc:"home_assistant, events, history, live, commands"`
	Prefix   string             `json:"prefix,omitempty" maxLength:"128" doc:"Of every topic; empty: sensegate" example:"sensegate"`
	CA       string             `json:"ca,omitempty" maxLength:"65536" doc:"Certificates (PEM) that the broker's must come from; empty: the system's"`
}

// uplinkConfig returns what is wanted. Of an uplink of that name that is there, what the page does not show stays.
func (b *Browser) uplinkConfig(name string, from uplinkBody) (uplink.Config, error) {
	list, err := b.Box.ListUplinks()
	c := uplink.Config{}
	if i := slices.IndexFunc(list, func(u uplink.State) bool { return u.Config.Name == name }); i >= 0 {
		c = list[i].Config
	}
	c.Name, c.URL, c.Username, c.Password, c.Networks, c.Use, c.Prefix, c.CA = name, from.URL, from.Username, from.Password, from.Networks, from.Uses, from.Prefix, from.CA
	return c, err
}

func (b *Browser) newUplink(ctx context.Context, who auth.Administrator, in *uplinkIn) (*struct{}, error) {
	c, err := b.uplinkConfig(in.Body.Name, in.Body)
	if err != nil {
		return nil, err
	}
	return nil, b.Box.AddUplink(ctx, who.Actor, c)
}

// UplinkPath names an uplink.
type UplinkPath struct {
	Name string `path:"name" maxLength:"32" doc:"Of the uplink" example:"homeassistant"`
}

type uplinkChange struct {
	UplinkPath
	Body uplinkBody
}

// changeUplink changes one that is there; the name in the body says nothing.
func (b *Browser) changeUplink(ctx context.Context, who auth.Administrator, in *uplinkChange) (*struct{}, error) {
	c, err := b.uplinkConfig(in.Name, in.Body)
	if err != nil {
		return nil, err
	}
	return nil, b.Box.ChangeUplink(ctx, who.Actor, in.Name, c)
}

func (b *Browser) removeUplink(ctx context.Context, who auth.Administrator, in *UplinkPath) (*struct{}, error) {
	return nil, b.Box.RemoveUplink(ctx, who.Actor, in.Name)
}

type uplinkTestOut struct {
	Body struct {
		Steps []boxUplinkStep `json:"steps" nullable:"false" doc:"Up to the first that went wrong"`
	}
}

type boxUplinkStep struct {
	Code uplink.Step `json:"code" example:"reach"`
	OK   bool        `json:"ok" example:"true"`
	Why  string      `json:"why" doc:"Code of what went wrong (docs/uplinks.md); empty: it has none" example:""`
	Text string      `json:"text" doc:"In English" example:"there is a way to homeassistant.local:1883"`
}

func steps(of []uplink.TestStep, err error) (*uplinkTestOut, error) {
	out := &uplinkTestOut{}
	out.Body.Steps = []boxUplinkStep{}
	for _, s := range of {
		out.Body.Steps = append(out.Body.Steps, boxUplinkStep{s.Step, s.OK, s.Code, s.Text})
	}
	return out, err
}

// tryUplink tries one that is not there yet, or a change of one. The password is asked for: it makes the appliance connect
// to any address.
func (b *Browser) tryUplink(ctx context.Context, _ auth.Administrator, in *uplinkIn) (*uplinkTestOut, error) {
	c, err := b.uplinkConfig(in.Body.Name, in.Body)
	if err != nil {
		return nil, err
	}
	return steps(b.Box.TestUplink(ctx, c))
}

func (b *Browser) testUplink(ctx context.Context, _ auth.Administrator, in *UplinkPath) (*uplinkTestOut, error) {
	return steps(b.Box.TestNamedUplink(ctx, in.Name))
}
