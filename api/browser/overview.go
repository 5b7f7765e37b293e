package browser

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// Overview is the home at a glance.
type Overview struct {
	TS     motion.Time   `json:"ts" doc:"Of this answer; ages count from it" example:"1764000000"`
	User   overviewUser  `json:"user"`
	Home   overviewHome  `json:"home"`
	Homes  []choice      `json:"homes" nullable:"false" doc:"Every home of the caller"`
	State  string        `json:"state" enum:"motion,quiet,unknown,paused" doc:"unknown: nothing has been heard lately, or not yet"`
	Last   *motion.Time  `json:"last_motion" nullable:"true" doc:"When motion was last detected; null: not since the home was claimed"`
	Rooms  []Room        `json:"rooms" nullable:"false" doc:"As the owner has ordered them, the others by name"`
	First  *firstMotion  `json:"first_motion,omitempty" doc:"The first of today, which begins at 04:00; absent: none yet"`
	Today  Strip         `json:"today" doc:"The whole home since midnight"`
	People []person      `json:"people" nullable:"false" doc:"Members, the caller first"`
	Faults []deviceFault `json:"faults" nullable:"false" doc:"Devices that do not work as they should"`
	Count  int           `json:"devices" doc:"Nodes and clients that take part" example:"12"`
	Full   bool          `json:"read_only" doc:"There is too little room on the disk: nothing can be changed at the moment" example:"false"`
	Until  *motion.Time  `json:"paused_until" nullable:"true" doc:"When the pause ends by itself; null: it does not, or there is none"`
	Demo   bool          `json:"demo" doc:"Whether the home is a simulated one; see POST /demo"`
	Unplug string        `json:"unplugged" doc:"In the demo the name of the node that has no power; empty: none" example:"Office extender"`
	Shown  bool          `json:"presence_shown" doc:"Whether Home Assistant is told if members are at home who agree (docs/home-assistant.md)"`
	Unread int           `json:"unread" maximum:"100" doc:"Notices that the caller has not read; 100: that many or more" example:"2"`

	order func(a, b string) int // of rooms
}

type overviewUser struct {
	ID    home.UserID `json:"id" example:"10"`
	Name  string      `json:"name" doc:"First name, else the address" example:"J"`
	Email string      `json:"email" example:"jdoe@example.com"`
}

type overviewHome struct {
	ID       home.ID     `json:"id" doc:"App Cloud network id" example:"17"`
	Name     string      `json:"name" doc:"Empty: none was given" example:"Home"`
	Timezone string      `json:"timezone" doc:"IANA name of the time zone" example:"America/Toronto"`
	Role     home.Role   `json:"role" enum:"owner,member" doc:"Of the caller"`
	Scene    string      `json:"scene" enum:"away,home"`
	SceneAt  motion.Time `json:"scene_at" doc:"When the scene was changed; 0: not known, or before the home was claimed" example:"1764000000"`
	SceneBy  string      `json:"scene_by" doc:"Name of who changed it; empty: not known" example:"Sam"`
	Away     motion.Time `json:"away_at" doc:"When the scene changes to away, as somebody has asked for; 0: it does not" example:"0"`
	Since    motion.Time `json:"since" doc:"When it was claimed: history begins here" example:"1764000000"`
	Live     bool        `json:"live" doc:"Whether live motion may be watched"`
	Asked    bool        `json:"asked" doc:"false: the owner has added the caller, who has not joined yet"`
}

// choice is a home that the caller belongs to.
type choice struct {
	ID   home.ID `json:"id" doc:"App Cloud network id" example:"17"`
	Name string  `json:"name" doc:"Empty: none was given" example:"Home"`
}

// Room is a place with devices.
type Room struct {
	Name  string       `json:"name" example:"Kitchen"`
	State string       `json:"state" enum:"motion,quiet,unknown,blind" doc:"motion: now, there or elsewhere in the home, and there within the last two minutes; blind: no device there can sense"`
	Why   string       `json:"why" enum:",OFFLINE,DENIED,MOBILE,LOW_SCORE,LINK_LIMIT,PAUSED,WARMUP" doc:"Of a blind room: what the devices there lack; WARMUP: they are learning what quiet looks like"`
	Last  *motion.Time `json:"last_motion" nullable:"true" doc:"To a minute: one in which this room has at least a second of motion and a third of that of the room with the most; null: none in the last 24 hours"`
	Strip Strip        `json:"strip" doc:"The last three hours"`
}

type person struct {
	ID      home.MembershipID `json:"id" doc:"Of the membership" example:"31"`
	Name    string            `json:"name" doc:"Empty: was added and has not joined" example:"Sam"`
	Role    home.Role         `json:"role" enum:"owner,member"`
	Self    bool              `json:"self" doc:"The caller"`
	Present bool              `json:"present" doc:"At home, as their phone says"`
	At      motion.Time       `json:"at" doc:"Of their phone's newest report; 0: none" example:"1764000000"`
}

type deviceFault struct {
	Name     string `json:"name" example:"Office extender"`
	Location string `json:"location" example:"Office"`
	Code     string `json:"code" enum:"OFFLINE,LOW_SCORE" doc:"What is wrong"`
}

// HomeQuery says which home a request is about.
type HomeQuery struct {
	Network uint32 `query:"network_id" minimum:"1" doc:"App Cloud network id; without it the first of the caller's is meant" example:"17"`
}

type overviewOut struct{ Body Overview }

func (b *Browser) overview(ctx context.Context, who auth.Member, _ *HomeQuery) (*overviewOut, error) {
	o := Overview{TS: b.Engine.State.Now(), Full: b.DB.Writable() != nil, Demo: b.Play.on() != nil, Unplug: b.Play.unplugged()}
	o.Shown = b.Box.Uplinks != nil && b.Box.Uplinks.ShowsMembers(who.Network)
	if err := b.DB.View(ctx, func(tx *store.Tx) error { return o.people(tx, who) }); err != nil {
		return nil, err
	}
	if err := b.sensing(&o, who); err != nil {
		return nil, err
	}
	if err := b.strips(ctx, &o, who); err != nil {
		return nil, err
	}
	if err := b.first(ctx, &o, who); err != nil {
		return nil, err
	}
	return &overviewOut{o}, nil
}

// people fills in who asks, the home, and who lives there.
func (o *Overview) people(tx *store.Tx, who auth.Member) error {
	record, err := tx.Home(who.Home)
	if err != nil {
		return err
	}
	settings, err := tx.SettingsInForce(who.Network)
	if err != nil {
		return err
	}
	o.Home = overviewHome{
		ID: who.Home, Name: record.Name, Timezone: settings.Timezone, Role: who.Role, Scene: record.Scene.String(),
		Since: who.Since, Live: record.LiveEnabled,
	}
	if !record.AwayDue(o.TS) {
		o.Home.Away = record.AwayAt
	}
	if record.SceneAt >= who.Since {
		o.Home.SceneAt = record.SceneAt
	}
	o.order = record.Rooms
	if err := o.homes(tx, who); err != nil {
		return err
	}
	members, err := tx.MembershipsOfHome(who.Home)
	if err != nil {
		return err
	}
	o.People = []person{}
	for _, m := range members {
		p := person{ID: m.ID, Role: m.Role, Self: m.User == who.ID, Present: m.IsPresent, At: m.PresenceAt}
		if !m.Unasked || p.Self {
			u, err := tx.User(m.User)
			if err != nil {
				return err
			}
			p.Name = cmp.Or(u.FirstName, u.Email)
			if u.ID == record.SceneBy && o.Home.SceneAt != 0 {
				o.Home.SceneBy = p.Name
			}
			if p.Self {
				o.User = overviewUser{ID: u.ID, Name: p.Name, Email: u.Email}
			}
		}
		o.People = append(o.People, p)
	}
	sort.SliceStable(o.People, func(i, j int) bool { return rank(o.People[i]) < rank(o.People[j]) })
	o.Unread, err = household.Unread(tx, who.Home, who.ID)
	return err
}

// homes fills in which homes the caller belongs to, and whether this one asked them.
func (o *Overview) homes(tx *store.Tx, who auth.Member) error {
	own, err := tx.MembershipsOfUser(who.ID)
	if err != nil {
		return err
	}
	o.Homes = []choice{}
	for _, m := range own {
		h, err := tx.Home(m.Home)
		if err != nil {
			return err
		}
		o.Homes = append(o.Homes, choice{h.ID, h.Name})
		if m.Home == who.Home {
			o.Home.Asked = !m.Unasked
		}
	}
	return nil
}

// rank orders the caller first.
func rank(p person) int {
	if p.Self {
		return 0
	}
	return 1
}

// sensing fills in the state of the home, its rooms and its devices.
func (b *Browser) sensing(o *Overview, who auth.Member) error {
	now, err := b.Engine.Inventory.NetworkState(who.Network)
	if err != nil {
		return err
	}
	last, tripped := now.MotionSince(who.Since)
	o.Last = last
	switch {
	case now.Paused():
		o.State = "paused"
		if !now.PausedUntil.IsZero() {
			o.Until = &now.PausedUntil
		}
	case tripped == nil:
		o.State = "unknown"
	case *tripped == 1:
		o.State = "motion"
	default:
		o.State = "quiet"
	}
	clients, err := b.Engine.Inventory.SoundingClients(who.Network)
	if err != nil {
		return err
	}
	o.Rooms, o.Faults = []Room{}, []deviceFault{}
	rooms := map[string]*Room{}
	online := map[motion.NodeID]bool{}
	for _, n := range clients.Nodes {
		online[n.ID] = n.Online
		o.device(rooms, cmp.Or(n.FriendlyName, n.DeviceID), n.Location, n.SoundingState, n.Online)
	}
	for _, l := range clients.Leafs {
		if l.Location != "" || l.Online {
			heard := len(l.Links) == 0 || slices.ContainsFunc(l.Links, func(k inventory.SoundingLink) bool { return online[k.NodeID] })
			o.device(rooms, cmp.Or(l.FriendlyName, l.MAC.String()), l.Location, l.SoundingState, heard)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(rooms), o.order) {
		o.Rooms = append(o.Rooms, *rooms[name])
	}
	return nil
}

// device adds a device to its room. One that cannot be heard, for it or the nodes of all its links are
// offline, is offline, although its links are not yet given up.
func (o *Overview) device(rooms map[string]*Room, name, location string, s inventory.SoundingState, heard bool) {
	o.Count++
	if !heard {
		s.Status, s.Reason = false, state.ReasonOffline
	}
	works, why := s.Status || s.Reason == state.ReasonNone, s.Reason
	switch {
	case works && s.Warmup != nil:
		why = "WARMUP"
	case works:
		why = ""
	}
	if s.Reason == state.ReasonOffline || s.Reason == state.ReasonLowScore { // the others are somebody's choice, or a limit
		o.Faults = append(o.Faults, deviceFault{name, location, s.Reason})
	}
	if location == "" {
		return
	}
	room := rooms[location]
	if room == nil {
		room = &Room{Name: location, State: "blind", Why: s.Reason}
		rooms[location] = room
	}
	if works && room.Why != "" {
		room.State, room.Why = "unknown", why // until a sample says more
	}
}
