package box

import (
	"context"
	"regexp"
	"strings"
	"time"

	"sensegate/api/box/support"
	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// supportStatus is how the appliance is as a bundle shows it. Times are in UTC.
type supportStatus struct {
	Running       bool              `json:"running"`
	Since         string            `json:"since,omitempty"`
	NotReady      string            `json:"not_ready,omitempty"`
	ReadOnly      string            `json:"read_only,omitempty"`
	ClockUnset    bool              `json:"clock_unset"`
	Attention     []string          `json:"attention"`
	Networks      int               `json:"networks"`
	Away          int               `json:"networks_away"`
	Devices       int               `json:"devices"`
	DevicesOnline int               `json:"devices_online"`
	Addresses     int               `json:"addresses"` // in private networks
	Names         int               `json:"names"`     // on the local network
	Nameless      string            `json:"without_names,omitempty"`
	Alone         bool              `json:"this_box_alone"`
	Size          int64             `json:"database_bytes"`
	Free          int64             `json:"disk_free_bytes"`
	DayBytes      int64             `json:"day_bytes"`
	Days          int64             `json:"days_fit"`
	UncleanStops  int64             `json:"unclean_stops"`
	LastUnclean   string            `json:"last_unclean,omitempty"`
	Unreadable    int               `json:"unreadable_records"`
	SamplesLost   int64             `json:"samples_lost_s"`
	LastBackup    string            `json:"last_backup,omitempty"`
	Certificate   string            `json:"certificate_ends,omitempty"`
	Recovery      *supportRecovery  `json:"recovery,omitempty"`
	Uplinks       []supportUplink   `json:"uplinks"`
	Mails         map[string]string `json:"mails"`
	Intakes       []supportIntake   `json:"intakes,omitempty"`
}

type supportRecovery struct {
	At       string `json:"at"`
	Damage   string `json:"damage"`
	Backup   bool   `json:"with_backup"`
	Restored string `json:"restored,omitempty"`
	Lost     string `json:"lost,omitempty"`
}

type supportUplink struct {
	Uplink    string        `json:"uplink"`
	Server    string        `json:"server"`
	Origin    uplink.Origin `json:"origin"`
	Use       []uplink.Use  `json:"use"`
	TLS       bool          `json:"own_authority"`
	Phase     uplink.Phase  `json:"phase"`
	Since     string        `json:"since"`
	Error     string        `json:"error,omitempty"`
	ErrorCode string        `json:"error_code,omitempty"`
	Queue     int           `json:"queue"`
	Failures  string        `json:"failures"`
	Refused   uint64        `json:"refused"`
	Rejected  uint64        `json:"rejected"`
	Missing   uint64        `json:"missing"`
}

type supportIntake struct {
	Kind    motion.NodeKind `json:"kind"`
	State   string          `json:"state,omitempty"`
	Arrived int64           `json:"arrived"`
	Frames  int64           `json:"frames"`
	Other   int64           `json:"other"`
	Wrong   int64           `json:"wrong"`
	Foreign int64           `json:"foreign"`
	Limited int64           `json:"limited"`
}

func (m *bundle) status(ctx context.Context) (any, error) {
	s, err := m.Status(ctx)
	if err != nil {
		return nil, err
	}
	d := s.Database
	shown := supportStatus{
		Running: s.Running, Since: supportTime(s.Since), NotReady: m.names.Text(s.NotReady), ReadOnly: m.names.Text(s.Health.ReadOnly), ClockUnset: s.ClockUnset,
		Attention: []string{}, Networks: s.Networks, Away: len(s.Away), Devices: s.Devices, DevicesOnline: s.DevicesOnline,
		Size: support.Round(d.Size), Free: d.Free, DayBytes: support.Round(d.DayBytes), Days: d.Days,
		UncleanStops: s.Health.UncleanStops, LastUnclean: supportTime(s.Health.LastUnclean), Unreadable: s.Health.Unreadable, SamplesLost: support.Round(s.Health.SamplesLost),
		Certificate: supportTime(s.SuppliedEnds), Uplinks: []supportUplink{}, Mails: map[string]string{},
	}
	if s.Reach != nil {
		shown.Addresses, shown.Names, shown.Nameless, shown.Alone = len(s.Reach.Addresses), len(s.Reach.Names), m.names.Text(s.Reach.Nameless), s.Reach.Alone
	}
	if s.LastBackup != nil {
		shown.LastBackup = supportTime(motion.TimeOf(s.LastBackup.At))
	}
	if r := s.Health.Recovery; r != nil {
		shown.Recovery = &supportRecovery{supportTime(r.At), m.names.Text(r.Damage), r.Backup != "", m.names.Text(r.Restored), m.names.Text(r.Lost)}
	}
	outbox, err := m.Outbox(ctx)
	if err != nil {
		return nil, err
	}
	mails := map[string]int{}
	for _, mail := range outbox.Mails {
		mails[string(mail.State)]++
	}
	for state, n := range mails {
		shown.Mails[state] = support.About(n)
	}
	for _, a := range s.Attention(outbox, time.Now()) {
		shown.Attention = append(shown.Attention, a.Code)
	}
	for _, u := range s.Uplinks {
		shown.Uplinks = append(shown.Uplinks, supportUplink{
			Uplink: m.names.Add("uplink", u.Config.Name), Server: m.server(u.Host), Origin: u.Origin, Use: u.Config.Use, TLS: u.Config.CA != "",
			Phase: u.Phase, Since: sinceStart(u.Since, s.Since), Error: m.names.Text(u.Error), ErrorCode: u.ErrorCode,
			Queue: support.Round(u.Queue), Failures: support.About(u.Failures), Refused: support.Round(u.Refused), Rejected: support.Round(u.Rejected), Missing: support.Round(u.Missing),
		})
	}
	return shown, m.intakes(ctx, &shown)
}

// sinceStart returns since when an uplink is as it is, by the day alone: it may be new, or was changed. What
// has been so since the start of the appliance has its time.
func sinceStart(since, start motion.Time) string {
	text := supportTime(since)
	if since.Std().Sub(start.Std()).Abs() > time.Minute {
		text, _, _ = strings.Cut(text, " ")
	}
	return text
}

// intakes adds where nodes of other makers are listened for.
func (m *bundle) intakes(ctx context.Context, to *supportStatus) error {
	list, err := m.Box.Devices(ctx)
	for _, i := range list.Intakes {
		to.Intakes = append(to.Intakes, supportIntake{
			i.Kind, m.names.Text(i.State), support.Round(i.Arrived), support.Round(i.Frames), support.Round(i.Other), support.Round(i.Wrong), support.Round(i.Foreign), support.Round(i.Limited),
		})
	}
	return err
}

// supportDevice is a device as a bundle shows it.
type supportDevice struct {
	Device   string           `json:"device"`
	Kind     string           `json:"kind"`
	State    string           `json:"state"`
	Why      string           `json:"why,omitempty"`
	Network  string           `json:"network,omitempty"`
	Firmware string           `json:"firmware,omitempty"`
	Hardware string           `json:"hardware,omitempty"`
	Node     motion.NodeKind  `json:"node,omitempty"`
	Advice   []string         `json:"advice,omitempty"`
	Refused  []supportRefused `json:"refused,omitempty"`
}

type supportRefused struct {
	Reason string `json:"reason"`
	Count  string `json:"count"`
}

// silentFor is since when a connected device is silent: it may have been unplugged by who left.
var silentFor = regexp.MustCompile(`silent for \S+ s`)

// mostDevices is how many devices a bundle has: strangers can invent names.
const mostDevices = 300

func (m *bundle) devices(ctx context.Context) (any, error) {
	list, err := m.Box.Devices(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range list.Devices {
		m.names.Add("device", d.ID, d.ID[strings.IndexByte(d.ID, '/')+1:]) // "client/NAME" of a stranger
	}
	shown := []supportDevice{}
	err = m.DB.View(ctx, func(tx *store.Tx) error {
		for i := range list.Devices[:min(len(list.Devices), mostDevices)] {
			d := &list.Devices[i]
			one := supportDevice{Device: m.names.Add("device", d.ID), Kind: d.Kind, State: d.State, Why: m.names.Text(silentFor.ReplaceAllString(d.Why, "silent")), Node: motion.NodeKindOf(d.ID)}
			if d.NetworkID != 0 {
				one.Network = m.network(d.NetworkID)
			}
			if n, err := tx.NodeByDevice(d.ID); err == nil {
				one.Firmware, one.Hardware = support.Version(n.FWVersion), support.Version(n.HWVersion)
			}
			if d.Node != nil {
				for _, a := range d.Node.Advice {
					one.Advice = append(one.Advice, a.Text())
				}
			}
			for _, r := range d.Refused {
				one.Refused = append(one.Refused, supportRefused{m.names.Text(r.Reason), support.About(r.Count)})
			}
			shown = append(shown, one)
		}
		return nil
	})
	return shown, err
}
