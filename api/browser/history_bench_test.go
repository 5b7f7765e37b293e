package browser

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/insight"
	"sensegate/store"
	"sensegate/store/storetest"
)

// BenchmarkHistory asks for days, weeks and months of a home of two years and 12 rooms.
func BenchmarkHistory(b *testing.B) {
	const years, rooms = 2, 12
	end := time.Date(2025, time.November, 24, 18, 0, 0, 0, time.UTC)
	clock := end.AddDate(-years, 0, 0)
	at := func() time.Time { return clock }
	db := storetest.Open(b, func(o *store.Options) { o.Now, o.Retention = at, store.DefaultRetention() })
	e, err := engine.New(b.Context(), db, engine.Options{Now: at, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	var id motion.NetworkID
	if err := db.Update(b.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		id = n.ID
		return err
	}); err != nil {
		b.Fatal(err)
	}
	if err := e.State.Reload(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	var macs []motion.MAC
	for i := range rooms {
		mac := motion.MAC{2, 0xbb, 0, 0, 0, byte(i)}
		macs = append(macs, mac)
		if err := e.Inventory.PlaceLeaf(b.Context(), id, mac, fmt.Sprintf("Room %d", i), ""); err != nil {
			b.Fatal(err)
		}
	}
	from := clock.Unix()
	for day := from; clock.Before(end); day += lookBack { // five minutes of motion each quarter of an hour
		r := motion.History{TS: motion.Time(day), Interval: 300_000, Count: lookBack / 300, MACs: macs}
		for i := range r.Count {
			shares := make([]float64, rooms)
			intensity := 0.0
			if i%3 == 0 {
				intensity, shares[i/3%rooms] = 0.5, 1
			}
			r.MKAI, r.Density = append(r.MKAI, intensity), append(r.Density, shares)
		}
		clock = clock.AddDate(0, 0, 1)
		if err := e.Sensing.Import(b.Context(), id, []motion.History{r}, nil); err != nil {
			b.Fatal(err)
		}
		if err := db.Update(b.Context(), e.State.Series.Flush); err != nil {
			b.Fatal(err)
		}
	}
	now := clock.Unix()
	w := New(Parts{DB: db, Engine: e})
	who := auth.Member{Network: id, Since: motion.Time(from)}
	for name, in := range map[string]historyIn{
		"yesterday":            {Span: "day", Day: dayBefore(now, 1)},
		"a day of last year":   {Span: "day", Day: dayBefore(now, 400)},
		"this week":            {Span: "week", Day: dayBefore(now, 0)},
		"a week of last year":  {Span: "week", Day: dayBefore(now, 400)},
		"this month":           {Span: "month", Day: dayBefore(now, 0)},
		"a month of last year": {Span: "month", Day: dayBefore(now, 400)},
		"a room's month":       {Span: "month", Day: dayBefore(now, 400), Room: "Room 3"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				out, err := w.history(context.Background(), who, &in)
				if err != nil {
					b.Fatal(err)
				}
				if out.Body.Days[0].Mean == nil && name[:1] == "a" {
					b.Fatal("no data")
				}
			}
		})
	}
}

// dayBefore returns the day that was so many days before a second.
func dayBefore(now int64, days insight.Date) api.Opt[date] {
	return api.Opt[date]{Value: date{insight.DateOf(now, time.UTC) - days}, Set: true}
}
