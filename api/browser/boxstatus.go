package browser

import (
	"context"
	"time"

	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/store"
)

type boxDisk struct {
	Used    int64  `json:"used_bytes" doc:"By the database" example:"1500000"`
	Free    int64  `json:"free_bytes" example:"64000000"`
	MinFree int64  `json:"min_free_bytes" doc:"That stay free for the rest of the system" example:"67108864"`
	Day     int64  `json:"day_bytes" doc:"That a day of samples takes; 0: not known yet" example:"250000"`
	Days    *int64 `json:"days_fit" nullable:"true" doc:"Days of samples that fit; null: not known yet" example:"2600"`
}

type boxBackup struct {
	At   motion.Time `json:"at" example:"1764000060"`
	Size int64       `json:"size" doc:"Bytes" example:"1500000"`
}

type boxRecovery struct {
	At       motion.Time  `json:"at" example:"1764000060"`
	Damage   string       `json:"damage" doc:"What was found"`
	BackupAt *motion.Time `json:"backup_at" nullable:"true" doc:"When the backup was made that something was taken from; null: none" example:"1763990060"`
	Lost     string       `json:"lost" doc:"Records; empty: none" example:"2 of leafs"`
	Aside    string       `json:"aside" doc:"Where the damaged file lies"`
}

type boxReach struct {
	Page  string   `json:"page" doc:"Address of the app; empty: none in a private network" example:"http://192.168.1.20:8080/"`
	Names []string `json:"names" nullable:"false" doc:"On the local network, the best first"`
	Why   string   `json:"without_names" doc:"Why there are none" example:""`
	Alone bool     `json:"this_box_alone" doc:"Whether it listens on loopback alone"`
}

type boxAttention struct {
	Code   string   `json:"code" doc:"not_ready, read_only, recovered (when, seconds), clock_unset, disk_low (days that fit), unreadable (records), samples_lost (seconds of networks), no_backup, backup_old (days), mails_failed (mails), certificate_ends (days that are left; null: none)" example:"backup_old"`
	Figure *float64 `json:"figure" nullable:"true" doc:"As the code says" example:"5"`
	Text   string   `json:"text" doc:"In the words of the program; empty: none"`
}

type boxAway struct {
	Network motion.NetworkID `json:"network_id" doc:"Core network id" example:"17"`
	To      string           `json:"to" doc:"Gatekeeper of the other box, where devices are sent; empty: it is on its way" example:"http://192.168.10.3:8080/gatekeeper"`
	Left    int              `json:"left" doc:"Devices that were not sent there yet" example:"1"`
}

type boxStatusOut struct {
	Body struct {
		Version       string         `json:"version" example:"1.4.0"`
		Now           motion.Time    `json:"now" doc:"What its clock says" example:"1764000060.5"`
		Since         motion.Time    `json:"since" doc:"When it was started" example:"1763000060"`
		Ready         bool           `json:"ready"`
		NotReady      string         `json:"not_ready" doc:"Why it cannot work; empty: it can"`
		ClockUnset    bool           `json:"clock_unset" doc:"Whether its clock is before the day the program was built"`
		ReadOnly      string         `json:"read_only" doc:"Why nothing is stored; empty: it is"`
		Networks      int            `json:"networks" example:"1"`
		Away          []boxAway      `json:"away" nullable:"false" doc:"Of them, those that go or have gone to another box"`
		Devices       int            `json:"devices" example:"4"`
		DevicesOnline int            `json:"devices_online" example:"3"`
		Disk          boxDisk        `json:"disk"`
		LastBackup    *boxBackup     `json:"last_backup,omitempty" doc:"That it has made by itself; left out: none"`
		UncleanStops  int64          `json:"unclean_stops" doc:"How often it ended by a power cut, a kill or a crash, ever" example:"2"`
		Unreadable    int            `json:"unreadable" doc:"Records that are left out because they cannot be read" example:"0"`
		SamplesLost   int64          `json:"samples_lost_s" doc:"Seconds of networks that could not be stored since the start" example:"0"`
		Recovery      *boxRecovery   `json:"recovery,omitempty" doc:"The last one from damage; left out: none"`
		Reach         boxReach       `json:"reach"`
		Attention     []boxAttention `json:"attention" nullable:"false" doc:"What somebody has to look at, the worst first"`
	}
}

func (b *Browser) boxStatus(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxStatusOut, error) {
	s, err := b.Box.Status(ctx)
	if err != nil {
		return nil, err
	}
	outbox, err := b.Box.Outbox(ctx)
	if err != nil {
		return nil, err
	}
	out := &boxStatusOut{}
	o := &out.Body
	o.Version, o.Now, o.Since, o.Ready, o.NotReady, o.ClockUnset = s.Version, motion.TimeOf(time.Now()), s.Since, s.NotReady == "", s.NotReady, s.ClockUnset
	o.ReadOnly, o.UncleanStops, o.Unreadable, o.SamplesLost = s.Health.ReadOnly, s.Health.UncleanStops, s.Health.Unreadable, s.Health.SamplesLost
	o.Away = []boxAway{}
	for _, n := range s.Away {
		if n.State == box.NetworkGone {
			continue
		}
		o.Away = append(o.Away, boxAway{n.ID, n.To, len(n.Left)})
	}
	o.Networks, o.Devices, o.DevicesOnline = s.Networks, s.Devices, s.DevicesOnline
	o.Disk = boxDisk{Used: s.Database.Size, Free: s.Database.Free, MinFree: b.Box.MinFree, Day: s.Database.DayBytes}
	if s.Database.Days > 0 {
		o.Disk.Days = &s.Database.Days
	}
	if s.LastBackup != nil {
		o.LastBackup = &boxBackup{motion.TimeOf(s.LastBackup.At), s.LastBackup.Size}
	}
	if r := s.Health.Recovery; r != nil {
		o.Recovery = &boxRecovery{At: r.At, Damage: r.Damage, BackupAt: knownTime(r.BackupAt), Lost: r.Lost, Aside: r.Aside}
	}
	if s.Reach != nil {
		o.Reach = boxReachOf(*s.Reach)
	}
	o.Attention = boxAttentionOf(s.Attention(outbox, time.Now()))
	return out, nil
}

func boxReachOf(r box.Reach) boxReach {
	shown := boxReach{Page: r.Best(), Names: r.Names, Why: r.Nameless, Alone: r.Alone}
	if shown.Names == nil {
		shown.Names = []string{}
	}
	return shown
}

func boxAttentionOf(list []box.Attention) []boxAttention {
	shown := []boxAttention{}
	for _, a := range list {
		line := boxAttention{Code: a.Code, Text: a.Text}
		if a.Figure != 0 {
			line.Figure = &a.Figure
		}
		shown = append(shown, line)
	}
	return shown
}

type boxDatabaseOut struct {
	Body struct {
		Path      string      `json:"path" example:"/var/lib/sensegate/sensegate.db"`
		Schema    int         `json:"schema" example:"6"`
		Size      int64       `json:"size" doc:"Bytes" example:"1500000"`
		PageSize  int         `json:"page_size" doc:"Bytes" example:"4096"`
		Pages     int64       `json:"pages" example:"366"`
		FreePages int         `json:"free_pages" example:"12"`
		Buckets   []boxBucket `json:"buckets" nullable:"false" doc:"In numbers of two digits: finer ones tell when a household moves"`
	}
}

type boxBucket struct {
	Name  string `json:"name" example:"events"`
	Keys  int    `json:"keys" example:"1200"`
	Bytes int    `json:"bytes" example:"240000"`
	Pages int    `json:"pages" example:"62"`
}

func (b *Browser) boxDatabase(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxDatabaseOut, error) {
	l, err := b.Box.Layout(ctx)
	out := &boxDatabaseOut{}
	o := &out.Body
	o.Path, o.Schema, o.Size, o.PageSize, o.Pages, o.FreePages = l.Path, l.Schema, l.Size, l.PageSize, l.Pages, rounded(l.FreePages)
	o.Buckets = []boxBucket{}
	for _, bucket := range l.Buckets {
		o.Buckets = append(o.Buckets, boxBucket{Name: bucket.Name, Keys: rounded(bucket.Keys), Bytes: rounded(bucket.Bytes), Pages: rounded(bucket.Pages)})
	}
	return out, err
}

// rounded returns a number by its first two digits, and what is small by tens: how records grow one by
// one tells when a household moves.
func rounded(n int) int {
	step := 10
	for n/step >= 100 {
		step *= 10
	}
	return (n + step/2) / step * step
}

type databaseCheckOut struct {
	Body struct {
		Whole   bool `json:"whole" doc:"Whether every page, index and record is whole"`
		Records int  `json:"records" doc:"Of the history that cannot be read" example:"0"`
		Samples int  `json:"samples" doc:"Blocks of samples that cannot be read" example:"0"`
	}
}

func (b *Browser) checkDatabase(ctx context.Context, _ auth.Administrator, _ *struct{}) (*databaseCheckOut, error) {
	left, err := b.Box.Check(ctx)
	out := &databaseCheckOut{}
	out.Body.Whole, out.Body.Records, out.Body.Samples = left == store.LeftOut{}, left.Records, left.Samples
	return out, err
}
