package browser

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/series"
	"sensegate/motion/timezone"
	"sensegate/store"
)

type exportOut struct {
	Name string `header:"Content-Disposition"`
	Body api.ZIP
}

// export answers with what the appliance keeps of the caller, and of the homes that they own. It
// is written in small transactions while it is sent, one at a time of a user.
func (b *Browser) export(ctx context.Context, who auth.User, _ *struct{}) (*exportOut, error) {
	if err := b.Accounts.StepUp(ctx, who, ""); err != nil {
		return nil, err
	}
	if _, busy := b.exporting.LoadOrStore(who.ID, true); busy {
		return nil, &fault.Error{Kind: fault.Throttled, Message: "another export of yours is being written", RetryAfter: 5 * time.Second}
	}
	now := b.Engine.State.Now()
	return &exportOut{
		Name: `attachment; filename="sensegate-export-` + now.Std().Format(time.DateOnly) + `.zip"`,
		Body: func(ctx context.Context, w io.Writer) error {
			defer b.exporting.Delete(who.ID)
			return (&export{b, ctx, zip.NewWriter(w), who, now}).write()
		},
	}, nil
}

// export writes one ZIP file.
type export struct {
	*Browser
	ctx context.Context
	zip *zip.Writer
	who auth.User
	now motion.Time
}

const exportText = `What a Sensegate appliance keeps of you.

account.json   your account, the homes you belong to, those you look after as installer, your settings, your phones
sessions.json  where you are signed in
HOME/          of each home you belong to:
  alerts.json    its alert rules
and of a home that you own, since you have owned it:
  home.json      its settings, and who may look after its devices
  devices.json   its devices, and the rooms they stand in
  events.csv     what happened
  motion.csv     motion in percent of the time, of the whole home and of each room, in steps of 15 minutes;
                 an empty field, or a time that is not there, is "not known"

Times are those of the home's time zone. A text that begins as a formula would has ' before it.
`

func (e *export) write() error {
	text, err := e.zip.Create("README.txt")
	if err == nil {
		_, err = io.WriteString(text, exportText)
	}
	if err != nil {
		return err
	}
	homes, err := e.person()
	if err != nil {
		return err
	}
	for _, m := range homes {
		if err := e.home(m); err != nil && fault.KindOf(err) != fault.NotFound { // left or disowned meanwhile
			return err
		}
	}
	return e.zip.Close()
}

// json adds a file.
func (e *export) json(name string, content any) error {
	w, err := e.zip.Create(name)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(w)
	lines.SetIndent("", "  ")
	return lines.Encode(content)
}

// person writes what is of the caller alone and returns the homes that they take part in.
func (e *export) person() ([]home.Membership, error) {
	var account struct {
		User        home.User           `json:"account"`
		Memberships []home.Membership   `json:"memberships"`
		Installs    []installedHome     `json:"installs"`
		Settings    motion.Document     `json:"settings"`
		Phones      []home.MobileDevice `json:"phones"`
		Providers   []string            `json:"identity_providers"`
	}
	err := e.DB.View(e.ctx, func(tx *store.Tx) (err error) {
		var phones []store.MobileDevice
		var identities []store.Identity
		var wrong [6]error
		account.User, wrong[0] = tx.User(e.who.ID)
		account.Memberships, wrong[1] = tx.MembershipsOfUser(e.who.ID)
		account.Settings, wrong[2] = tx.UserMeta(e.who.ID)
		phones, wrong[3] = tx.MobilesOfUser(e.who.ID)
		identities, wrong[4] = tx.Identities(e.who.ID)
		account.Installs, wrong[5] = installedHomes(tx, e.who.ID)
		for _, p := range phones {
			p.MobileDevice.Token = "" // lets others send pushes
			account.Phones = append(account.Phones, p.MobileDevice)
		}
		for _, i := range identities {
			account.Providers = append(account.Providers, i.Issuer)
		}
		return errors.Join(wrong[:]...)
	})
	if err != nil {
		return nil, err
	}
	sessions, err := e.Sessions.Sessions(e.ctx, e.who)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(slices.Clone(account.Memberships), func(m home.Membership) bool { return m.Unasked })
	return asked, errors.Join(e.json("account.json", account), e.json("sessions.json", sessions))
}

// keptHome is the content of home.json.
type keptHome struct {
	Home       home.Home                  `json:"home"`
	Installers []shownInstaller           `json:"installers"`
	Scenes     home.SceneConfig           `json:"scenes"`
	Settings   motion.ApplicationSettings `json:"settings"`
	Sensing    any                        `json:"sensing"`
	Meta       motion.Document            `json:"meta"`
}

// read reads what the records of a home say.
func (k *keptHome) read(tx *store.Tx, id home.ID) (err error) {
	if k.Home, err = tx.Home(id); err != nil {
		return err
	}
	if k.Installers, err = shownInstallers(tx, id); err != nil {
		return err
	}
	k.Home.Installers = nil // told above, with names
	if k.Settings, err = tx.ApplicationSettings(k.Home.ExternalID); fault.KindOf(err) == fault.NotFound {
		k.Settings, err = motion.DefaultApplicationSettings(k.Home.ExternalID), nil
	}
	if err != nil {
		return err
	}
	if k.Scenes, err = tx.SceneConfig(k.Home.SceneConfigID); err != nil {
		return err
	}
	k.Meta, err = tx.HomeMeta(id)
	return err
}

// home writes what the caller may see of a home.
func (e *export) home(m home.Membership) error {
	var kept keptHome
	zone := time.UTC
	if err := e.DB.View(e.ctx, func(tx *store.Tx) error { return kept.read(tx, m.Home) }); err != nil {
		return err
	}
	if named, err := timezone.Load(kept.Settings.Timezone); err == nil {
		zone = named
	}
	folder, network := fmt.Sprintf("home-%d/", m.Home), kept.Home.ExternalID
	rules, err := e.Engine.Alerts.Alerts(e.ctx, network)
	if err != nil {
		return err
	}
	if err := e.json(folder+"alerts.json", rules); err != nil || m.Role != home.OwnerRole {
		return err
	}
	if kept.Sensing, err = e.Engine.Inventory.SoundingSettings(network); err != nil {
		return err
	}
	devices, err := e.Engine.Inventory.Topology(network, true)
	if err != nil {
		return err
	}
	if err := errors.Join(e.json(folder+"home.json", kept), e.json(folder+"devices.json", devices.Devices)); err != nil {
		return err
	}
	if err := e.events(folder, network, kept.Home.ClaimedAt, zone); err != nil {
		return err
	}
	return e.motion(folder, network, kept.Home.ClaimedAt, zone)
}

// csv adds a file of rows that fill writes.
func (e *export) csv(name string, head []string, fill func(row func(...string) error) error) error {
	w, err := e.zip.Create(name)
	if err != nil {
		return err
	}
	table := csv.NewWriter(w)
	row := func(fields ...string) error {
		for i := range fields {
			fields[i] = harmless(fields[i])
		}
		return table.Write(fields)
	}
	if err := errors.Join(row(head...), fill(row)); err != nil {
		return err
	}
	table.Flush()
	return table.Error()
}

// harmless returns a field that no spreadsheet takes for a formula: devices and people choose
// names.
func harmless(field string) string {
	if field != "" && strings.ContainsRune("=+-@\t\r", rune(field[0])) {
		return "'" + field
	}
	return field
}

const exportPage = 400 // events in a transaction

func (e *export) events(folder string, network motion.NetworkID, since motion.Time, zone *time.Location) error {
	return e.csv(folder+"events.csv", []string{"time", "category", "kind", "room", "tag", "more"}, func(row func(...string) error) error {
		query := store.EventQuery{Network: network, NotBefore: since, From: &since, Last: exportPage, Ascending: true}
		for {
			page, full, err := e.eventPage(query)
			if err != nil {
				return err
			}
			for _, event := range page {
				more, err := json.Marshal([]motion.Document{event.Detail, event.Data})
				if err != nil {
					return err
				}
				at := event.TS.Std().In(zone).Format("2006-01-02T15:04:05.000Z07:00")
				if err := row(at, string(event.Category), event.Event, event.LocName, strings.TrimSpace(event.Tag), string(more)); err != nil {
					return err
				}
			}
			if !full || len(page) == 0 {
				return nil
			}
			query.After = page[len(page)-1].ID
		}
	})
}

func (e *export) eventPage(q store.EventQuery) (page []motion.Event, full bool, err error) {
	err = e.DB.View(e.ctx, func(tx *store.Tx) error {
		page, full, err = tx.EventPage(q)
		return err
	})
	return page, full, err
}

const (
	exportSpan = 28 * 24 * 3600   // seconds of motion in memory at a time
	exportMost = 10 * 366 * 86400 // seconds: what is older is not looked for
)

func (e *export) motion(folder string, network motion.NetworkID, since motion.Time, zone *time.Location) error {
	known, err := e.devices(network)
	if err != nil {
		return err
	}
	rooms := known.rooms()
	head := append([]string{"time", "home"}, rooms...)
	return e.csv(folder+"motion.csv", head, func(row func(...string) error) error {
		end := e.now.Second() + 1
		first := max(int64(math.Ceil(float64(since))), end-exportMost)
		for from := first - first%stripStep; from < end; from += exportSpan {
			if err := e.span(network, max(from, first), min(from+exportSpan, end), zone, known, rooms, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// span writes the motion in [from, to), which is not longer than exportSpan.
func (e *export) span(network motion.NetworkID, from, to int64, zone *time.Location, known devices, rooms []string, row func(...string) error) error {
	set, err := e.Engine.State.SamplesFor(e.ctx, network, from, to, stripStep)
	if err != nil {
		return err
	}
	whole, err := set.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: stripStep})
	if err != nil {
		return err
	}
	shares, err := set.Shares(from, to, stripStep)
	if err != nil {
		return err
	}
	for i := range whole.Len() {
		value, at, ok := whole.At(i)
		if !ok {
			continue // no data: no row
		}
		fields := []string{time.Unix(at, 0).In(zone).Format(time.RFC3339), percent(value)}
		for _, room := range rooms {
			fields = append(fields, shareOf(room, at, shares, known))
		}
		if err := row(fields...); err != nil {
			return err
		}
	}
	return nil
}

// shareOf returns the share of a room in the bucket at, "" when nothing is known.
func shareOf(room string, at int64, shares []series.LocationPoints, where devices) string {
	sum, known := 0.0, false
	for _, share := range shares {
		if where.place(share.MAC) != room || share.Points.Len() == 0 {
			continue
		}
		i := (at - share.Points.Start) / share.Points.Bucket
		if i < 0 || i >= int64(share.Points.Len()) {
			continue
		}
		if value, _, ok := share.Points.At(int(i)); ok {
			sum, known = sum+value, true
		}
	}
	if !known {
		return ""
	}
	return percent(min(sum, 100))
}

func percent(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
