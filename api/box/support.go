package box

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sensegate/api/box/preflight"
	"sensegate/api/box/support"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Support returns a support bundle, a zip archive: how the appliance is, in files without names, addresses,
// secrets and times of people. What cannot be had is said in the place of its file. A disk without room
// for the line in the audit log withholds no bundle.
func (b *Box) Support(ctx context.Context, by store.Actor) (archive []byte, err error) {
	if b.DB == nil {
		return support.Zip(b.supportFiles(ctx))
	}
	err = b.change(ctx, by, "support_made", "", func(ctx context.Context, _ *store.AuditNote) (err error) {
		archive, err = support.Zip(b.supportFiles(ctx))
		return err
	})
	if fault.KindOf(err) == fault.Unavailable && archive != nil {
		b.Log.Warn("support bundle handed out without a line in the audit log", "err", err)
		err = nil
	}
	return archive, err
}

// bundle is a support bundle that is being made.
type bundle struct {
	*Box
	names  support.Names
	mobile map[motion.NodeID]bool // leafs that move about, as phones do
	files  []support.File
}

// supportFiles returns the files of a support bundle.
func (b *Box) supportFiles(ctx context.Context) []support.File {
	made := bundle{Box: b}
	made.text("version.txt", "what runs, on what kind of machine", fmt.Sprintf("%s\n%d processors\nthis bundle was made at %s UTC by its clock\n", ThisBuild(), runtime.NumCPU(), time.Now().UTC().Format(time.DateTime)))
	made.learn(ctx)
	if b.Configured != nil {
		made.settings(b.Configured())
	}
	if b.Mistaken != nil {
		made.text("mistakes.txt", "what is wrong with the configuration, so that it does not start", made.names.Lines(b.Mistaken.Error()))
	}
	if b.Preflight != nil {
		made.preflight(b.Preflight())
	}
	if b.DB == nil {
		about := "why the database could not be opened, so that status, devices and links are missing"
		if b.Whole != "" {
			about += "; with them: " + made.names.Text(b.Whole)
		}
		made.text("database.json", about, made.names.Text(fmt.Sprint(b.Unopened))+"\n")
	} else {
		made.json("status.json", "how it is, as sensegate status", func() (any, error) { return made.status(ctx) })
		made.json("database.json", "what the database holds, and whether it is whole", func() (any, error) { return made.database(ctx) })
		made.json("devices.json", "its devices, and what stands in their way", func() (any, error) { return made.devices(ctx) })
		made.json("links.json", "which links sense, and why others cannot, at the last quarter of an hour", func() (any, error) { return made.links(ctx) })
	}
	if b.Metrics != nil {
		var all bytes.Buffer
		b.Metrics(&all)
		made.text("metrics.txt", "figures since the start", made.names.Metrics(all.String()))
	}
	if b.Recent != nil {
		lines, _ := b.Recent.Lines(support.Least, 0, 1<<20)
		made.text("log.txt", "the last lines of the log that tell of the machine, in UTC", made.names.Log(lines))
	}
	return made.files
}

func (m *bundle) text(name, about, content string) {
	m.files = append(m.files, support.File{Name: name, About: about, Content: []byte(content)})
}

// json adds a file with a value, or with why there is none.
func (m *bundle) json(name, about string, value func() (any, error)) {
	v, err := value()
	if err == nil {
		var f support.File
		if f, err = support.JSON(name, about, v); err == nil {
			m.files = append(m.files, f)
			return
		}
	}
	m.text(name, about, "it could not be had: "+m.names.Text(err.Error())+"\n")
}

// learn learns every name that is to be replaced.
func (m *bundle) learn(ctx context.Context) {
	stateDir := ""
	if m.DB != nil {
		stateDir, _ = filepath.Abs(filepath.Dir(m.DB.Path()))
	}
	nameMachine(&m.names, stateDir)
	if m.DB == nil {
		return
	}
	err := m.DB.View(ctx, func(tx *store.Tx) (err error) {
		m.mobile, err = nameHouseholds(tx, &m.names)
		return err
	})
	if err != nil {
		m.text("names.txt", "that not every name could be read, so that stand-ins may be missing", m.names.Text(err.Error())+"\n")
	}
	if m.Uplinks == nil {
		return
	}
	for _, u := range m.Uplinks.List() {
		m.names.Add("uplink", u.Config.Name)
		m.server(u.Host)
		m.names.Also(m.names.Add("mqtt-user", u.Config.Username), u.Config.ClientID)
	}
}

// server returns the stand-in of a host with the port that it may have; this machine needs none.
func (m *bundle) server(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	stand := m.names.Server(name)
	if port == "" {
		return stand
	}
	return net.JoinHostPort(stand, port)
}

// supportSetting is a key of the configuration as a bundle shows it.
type supportSetting struct {
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"`
	Secret  bool   `json:"secret,omitempty"`
	Set     bool   `json:"set"`
	Origin  Origin `json:"origin"`
	Default string `json:"default,omitempty"` // where it is another one
}

func (m *bundle) settings(all Settings) {
	m.names.Add("config", all.File)
	shown := []supportSetting{}
	for _, s := range all.List {
		if m.Mistaken != nil && !support.IsKey(s.Key) {
			continue // somebody's own word may stand in it
		}
		m.names.Keep(s.Key)
		one := supportSetting{Key: s.Key, Secret: s.Secret, Set: s.Set, Origin: s.Origin}
		if s.Value != nil {
			if absolute, err := filepath.Abs(*s.Value); s.Key == "state_dir" && err == nil {
				m.names.Add("state-dir", absolute, *s.Value)
			}
			one.Value = m.names.Setting(s.Key, *s.Value, s.Standard)
			if *s.Value != s.Standard {
				one.Default = s.Standard
			}
		}
		shown = append(shown, one)
	}
	m.json("configuration.json", "every setting, where its value comes from, and the value where it is a number, a size or a word of the product", func() (any, error) { return shown, nil })
}

func (m *bundle) preflight(found []preflight.Finding) {
	var out strings.Builder
	for _, f := range found {
		says := m.names.Text(f.Says)
		if f.What == "clock" { // which says the time of the bundle
			says = f.Says
		}
		fmt.Fprintf(&out, "%-7s  %s: %s", f.Grade, f.What, says)
		if f.Fix != "" {
			fmt.Fprintf(&out, ". %s", m.names.Text(f.Fix))
		}
		out.WriteString("\n")
	}
	m.text("doctor.txt", "whether the machine lets it work, as sensegate doctor", out.String())
}

// database returns what the database holds and whether it is whole.
func (m *bundle) database(ctx context.Context) (any, error) {
	l, err := m.Layout(ctx)
	if err != nil {
		return nil, err
	}
	l.Path, l.Size, l.Pages, l.FreePages = "", support.Round(l.Size), support.Round(l.Pages), support.Round(l.FreePages)
	for i := range l.Buckets {
		b := &l.Buckets[i]
		b.Keys, b.Bytes, b.Pages = support.Round(b.Keys), support.RoundBytes(b.Bytes), support.Round(b.Pages)
	}
	check := "every page, record and index is whole"
	left, err := m.Check(ctx)
	switch {
	case err != nil:
		check = m.names.Text(err.Error())
	case left != store.LeftOut{}:
		check = fmt.Sprintf("%d records of the history and %d blocks of samples cannot be read", left.Records, left.Samples)
	}
	return struct {
		Check  string       `json:"check"`
		Layout store.Layout `json:"layout"`
	}{check, l}, nil
}

// supportLink is a link as a bundle shows it.
type supportLink struct {
	Network     string   `json:"network"`
	Link        string   `json:"link"`
	From        string   `json:"from"`
	To          string   `json:"to"`
	Room        string   `json:"room,omitempty"`
	Can         string   `json:"can"`
	Why         []string `json:"why,omitempty"`
	Source      string   `json:"source,omitempty"`
	Calibration string   `json:"calibration,omitempty"`

	Unauthenticated bool `json:"unauthenticated,omitempty"`
}

// links returns the links as who has no part in a household may see them. Of one that ends at what moves
// about there is nothing but that it is there: a phone that is silent has left.
func (m *bundle) links(ctx context.Context) (any, error) {
	networks, err := store.Read(ctx, m.DB, (*store.Tx).Networks)
	if err != nil {
		return nil, err
	}
	shown := []supportLink{}
	for _, n := range networks {
		links, err := m.Engine.Sensing.Glances(n.ID)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range links {
			l := &links[i]
			one := supportLink{
				Network: m.network(n.ID), Link: m.names.Add("link", l.Link), From: m.end(l.From), To: m.end(l.To), Room: m.names.Add("room", l.Zone),
				Can: "not told: one of its ends moves about",
			}
			if !m.movesAbout(l.From) && !m.movesAbout(l.To) {
				one.Can, one.Source, one.Calibration, one.Unauthenticated = l.Can, l.Source, l.Calibration, l.Unauthenticated
				for _, r := range l.Reasons {
					one.Why = append(one.Why, reasonText(r))
				}
			}
			shown = append(shown, one)
		}
	}
	return shown, nil
}

func (m *bundle) network(id motion.NetworkID) string {
	return m.names.Add("network", "network "+fmt.Sprint(id))
}

func (m *bundle) end(e sensing.LinkEnd) string {
	switch {
	case e.ID == 0:
		return "not known"
	case e.Node:
		return m.names.Add("device", "node "+fmt.Sprint(e.ID))
	}
	return m.names.Add("client", "leaf "+fmt.Sprint(e.ID))
}

// movesAbout reports whether an end of a link may be a phone.
func (m *bundle) movesAbout(e sensing.LinkEnd) bool {
	mobile, known := m.mobile[e.ID]
	return !e.Node && (mobile || !known)
}

// reasonText says what stands in the way of a link, without since when.
func reasonText(r sensing.Reason) string {
	switch r.Code {
	case sensing.Silent:
		return "silent"
	case sensing.Disturbed:
		r.Code = sensing.Recalibrate
	}
	return r.Text()
}

// supportTime returns a time of the machine, "" for none.
func supportTime(t motion.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Std().UTC().Format(time.DateTime)
}
