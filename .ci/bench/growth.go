package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Answers of which a growth takes the median, and the time between two: as often as one
// may ask.
const (
	growthAnswers = 15
	growthPause   = 110 * time.Millisecond
	growthStarts  = 5
)

// growth is how cost grows along an axis.
type growth struct {
	name   string // of the file
	title  string
	axis   string
	costs  []cost
	points []growthPoint
}

// cost is a column of a growth, a line of its plot.
type cost struct {
	name, unit string
}

// growthPoint is a row: the place on the axis, and a value per cost.
type growthPoint struct {
	label  string
	x      float64
	values []float64
}

// growthLongest is the time limit of both growths together.
const growthLongest = 15 * time.Minute

// steep is the exponent above which a cost grows more than linearly; what is below is in
// the noise of a measurement.
const steep = 1.1

// growth measures how cost grows with networks and with history, prints both tables and
// draws them.
func (b *bench) growth(ctx context.Context, out io.Writer, about string, quick bool) error {
	ctx, cancel := context.WithTimeout(ctx, growthLongest)
	defer cancel()
	fmt.Fprintf(out, "%s\n", about)
	for _, measure := range []func(context.Context, bool) (growth, error){b.growNetworks, b.growHistory} {
		g, err := measure(ctx, quick)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprint(out, g.markdown()); err != nil {
			return err
		}
		if quick {
			continue
		}
		if err := os.WriteFile(filepath.Join(b.root, "docs", g.name+".svg"), []byte(g.plot()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// exponent returns the power of the axis with which a cost grows from the row before.
func (g growth) exponent(row, column int) float64 {
	before, now := g.points[row-1], g.points[row]
	return math.Log(now.values[column]/before.values[column]) / math.Log(now.x/before.x)
}

// markdown returns the table, with the exponent of each step in brackets, and what grows
// more than linearly.
func (g growth) markdown() string {
	head := []string{g.axis}
	for _, c := range g.costs {
		head = append(head, c.name+", "+c.unit)
	}
	rows := []string{"", "| " + strings.Join(head, " | ") + " |", strings.Repeat("|---", len(head)) + "|"}
	var steeper []string
	for i, p := range g.points {
		cells := []string{p.label}
		for k, v := range p.values {
			cell := number(v)
			if i > 0 {
				if e := g.exponent(i, k); !math.IsNaN(e) && !math.IsInf(e, 0) {
					cell += fmt.Sprintf(" (%.2f)", e)
					if e > steep {
						steeper = append(steeper, fmt.Sprintf("%s from %s to %s: %.2f", g.costs[k].name, g.points[i-1].label, p.label, e))
					}
				}
			}
			cells = append(cells, cell)
		}
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
	}
	verdict := "Nothing grows more than linearly."
	if len(steeper) > 0 {
		verdict = "More than linearly, by the exponent of growth: " + strings.Join(steeper, "; ") + "."
	}
	return strings.Join(append(rows, "", verdict, ""), "\n")
}

// starts starts the appliance several times on its state directory, leaves it running,
// and returns the median time until it was ready, in ms.
func (b *bench) starts(ctx context.Context, dir string) (*appliance, float64, error) {
	var took []float64
	for n := range growthStarts + 1 {
		begin := time.Now()
		a, err := b.serve(ctx, dir)
		if err != nil {
			return nil, 0, err
		}
		if n > 0 { // the first start finds a new user, and the system has not read the file
			took = append(took, ms(time.Since(begin)))
		}
		if n == growthStarts {
			return a, median(took), nil
		}
		if err := a.stop(); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, errors.New("not started")
}

// session is a browser's.
type session struct {
	*appliance
	cookies []*http.Cookie
	proof   string
}

// signIn signs the owner in.
func (a *appliance) signIn(ctx context.Context) (*session, error) {
	s := &session{appliance: a}
	var answer struct{ Proof string }
	body := fmt.Sprintf(`{"email": %q, "password": %q}`, ownersMail, ownersPassword)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.http+"/web/v1/session", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Sensegate", "1")
	response, err := s.send(request, &answer)
	if err != nil {
		return nil, err
	}
	s.cookies, s.proof = response.Cookies(), answer.Proof
	return s, nil
}

// timed returns the median time of an answer, in ms: of the app for paths of /web, else of Core.
func (s *session) timed(ctx context.Context, path string) (float64, error) {
	var took []float64
	for range growthAnswers {
		if err := rest(ctx, growthPause); err != nil {
			return 0, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+path, nil)
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(path, "/web/") {
			request.Header.Set("X-Sensegate", s.proof)
			for _, c := range s.cookies {
				request.AddCookie(c)
			}
		} else {
			request.Header.Set("Authorization", s.key)
		}
		begin := time.Now()
		if _, err := s.send(request, nil); err != nil {
			return 0, err
		}
		took = append(took, ms(time.Since(begin)))
	}
	return median(took), nil
}
