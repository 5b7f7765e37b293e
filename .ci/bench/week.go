package main

import (
	"context"
	"errors"
	"time"
)

// measureWeek stores nine days of 50 networks and measures answers of a week (S8), the
// growth of the file (S9), and a start with it (S10).
func measureWeek(ctx context.Context, b *bench) ([]figure, error) {
	var figures []figure
	for _, profile := range []string{"sparse", "noisy3"} {
		found, err := b.week(ctx, profile)
		if err != nil {
			return figures, err
		}
		figures = append(figures, found...)
	}
	return inOrder(figures), nil
}

func (b *bench) week(ctx context.Context, profile string) (_ []figure, err error) {
	ours, peer, err := b.pair(ctx, profile, 1, 1, startOfDays(13))
	if err != nil {
		return nil, err
	}
	running := true
	defer func() {
		err = errors.Join(err, peer.stop())
		if running {
			err = errors.Join(err, ours.stop())
		}
	}()
	var sizes, settled []float64
	for day := range 9 {
		if _, err := ours.ask("live", daySeconds); err != nil {
			return nil, err
		}
		if _, err := peer.ask("live", daySeconds); err != nil {
			return nil, err
		}
		size, err := ours.ask("size", 0)
		if err != nil {
			return nil, err
		}
		sizes, settled = append(sizes, size["bytes"]), append(settled, size["bytes"]-size["filling"])
		b.say("%s: %d days", profile, day+1)
	}
	figures, err := b.weekAnswers(ours, peer, profile)
	if err != nil {
		return nil, err
	}
	figures = append(figures, figure{
		Name: "S9", What: "file after 9 days against 8, without the minutes and quarter hours that still fill, " + profile, Unit: "×", Ours: settled[8] / settled[7], Reach: atMost(1.02),
	}, figure{
		Name: "S9", What: "file after 9 days against 8, all of it, " + profile, Unit: "×", Ours: sizes[8] / sizes[7],
	}, figure{
		Name: "S9", What: "file of 9 days, for each network, " + profile, Unit: "MB", Ours: sizes[8] / networks / 1e6, Reach: atMost(1.2),
	})
	running = false
	if err := ours.stop(); err != nil {
		return nil, err
	}
	start, err := b.startUp(ctx, ours, profile)
	return append(figures, start...), err
}

func (b *bench) weekAnswers(ours, peer *worker, profile string) ([]figure, error) {
	var figures []figure
	for _, of := range []struct {
		bucket int
		what   string
		limit  float64
	}{{5, "week @ 5 s", 3}, {60, "week @ 60 s", 0.5}} {
		for k, value := range []string{"ms", "again"} {
			mine, theirs, err := inTurn(9, value, ours, "week", peer, "week", of.bucket)
			if err != nil {
				return nil, err
			}
			figures = append(figures, figure{
				Name: "S8", What: of.what + ", the whole answer from the disk, " + profile + []string{"", ", again at once"}[k], Unit: "ms", Ours: mine, Reach: atMost(of.limit).wherePeerTook(weekThen[profile]),
				Peer: prometheus + ", largest of its seconds", Peers: theirs,
			})
		}
	}
	return figures, nil
}

// startUp measures S10: the time until the real binary is ready on the store that ours
// has left, in turn with an empty one.
func (b *bench) startUp(ctx context.Context, ours *worker, profile string) ([]figure, error) {
	const starts = 10
	empty, err := b.temp("empty")
	if err != nil {
		return nil, err
	}
	took := map[string][]float64{}
	for n := range starts {
		for _, dir := range []string{ours.dir, empty} {
			begin := time.Now()
			a, err := b.serve(ctx, dir)
			if err != nil {
				return nil, err
			}
			if n > 0 { // the first start creates a certificate authority and a certificate
				took[dir] = append(took[dir], ms(time.Since(begin)))
			}
			if err := a.stop(); err != nil {
				return nil, err
			}
		}
	}
	return []figure{{
		Name: "S10", What: "start of the real binary on that store, " + profile, Unit: "ms", Ours: median(took[ours.dir]), Reach: atMost(50).wherePeerTook(startThen),
		Peer: "the same on an empty store", Peers: median(took[empty]),
	}}, nil
}
