package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// victoriaHomes is how many homes the peer stores for a day. Its bytes of a row hardly depend on it.
const victoriaHomes = 10

// besideVictoria returns rows with VictoriaMetrics as the peer: of disk, with sums as ours keeps them; the same without our free
// pages, which the next commits use and of which the peer has none; of our pages with seconds, without sums; and of disk again
// without, which says what sums cost and has no bound, as the peer does less.
func (b *bench) besideVictoria(ctx context.Context, disk figure, size map[string]float64, profile string) []figure {
	const peer = "VictoriaMetrics, 10 networks"
	alike, used, seconds := disk, disk, disk
	alike.Reach, alike.Peer = atMostOfPeer(1), peer+", with the same sums"
	alike.Peers, alike.Err = b.victoria(ctx, profile, true)
	used.What, used.Ours = disk.What+": pages in use", disk.Ours*size["used"]/size["bytes"]
	used.Reach, used.Peer, used.Peers, used.Err = alike.Reach, alike.Peer, alike.Peers, alike.Err
	seconds.What, seconds.Ours = disk.What+": pages with seconds", disk.Ours*size["seconds"]/size["bytes"]
	seconds.Reach, seconds.Peer = atMostOfPeer(1), peer+", without sums"
	seconds.Peers, seconds.Err = b.victoria(ctx, profile, false)
	all := seconds
	all.What, all.Ours, all.Reach = disk.What+": with our sums", disk.Ours, bound{}
	return []figure{alike, used, seconds, all}
}

// victoria stores a day of homes in Debian's VictoriaMetrics, an hour of a series at a time, and returns its bytes of a row, in
// the data that it has merged and its index. With sums it stores those of each series as well.
func (b *bench) victoria(ctx context.Context, profile string, sums bool) (_ float64, err error) {
	program, err := lookFor("victoria-metrics", "/usr/bin/victoria-metrics")
	if err != nil {
		return 0, err
	}
	kind, err := profileOf(profile)
	if err != nil {
		return 0, err
	}
	dir, err := b.temp("victoria")
	if err != nil {
		return 0, err
	}
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	address := addr.String()
	cmd := exec.CommandContext(ctx, program, "-storageDataPath", dir, "-httpListenAddr", address, "-retentionPeriod", "1y", "-loggerLevel", "ERROR")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start victoria-metrics: %w", err)
	}
	stop := func() error {
		err := cmd.Process.Signal(syscall.SIGINT) // it writes what it holds
		return errors.Join(err, cmd.Wait())
	}
	if err = answers("victoria-metrics", address); err == nil {
		err = importDay(ctx, "http://"+address, newHomes(kind, victoriaHomes, 2), startOfDays(6), sums)
	}
	if err = errors.Join(err, stop()); err != nil {
		return 0, err
	}
	size := 0.0
	for _, part := range []string{"data", "indexdb"} {
		bytes, missing := bytesBelow(filepath.Join(dir, part))
		size, err = size+bytes, errors.Join(err, missing)
	}
	return size / (victoriaHomes * columnsOfHome * daySeconds), err
}

// bytesBelow returns the bytes of all files below a directory.
func bytesBelow(dir string) (size float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += float64(info.Size())
		}
		return err
	})
	return size, err
}

// sumSteps are the lengths of the sums of a series, in seconds, and sumNames what is told of each.
var (
	sumSteps = []int{5, 60, 900}
	sumNames = []string{"greatest", "mean", "motion"}
)

// imported is the values of one metric that are still to be sent, and their times.
type imported struct {
	name          string
	values, times []byte
}

func (m *imported) add(second int64, v float64) {
	m.values = append(strconv.AppendFloat(m.values, v, 'f', -1, 64), ',')
	m.times = append(strconv.AppendInt(m.times, second*1000, 10), ',')
}

// importedSeries is what is sent of one series: intensity and density of each second, then the sums of each length.
type importedSeries struct {
	metrics []imported
	sums    []importedSum // by sumSteps
}

type importedSum struct{ greatest, total, density float64 }

func newImportedSeries(sums bool) importedSeries {
	s := importedSeries{metrics: []imported{{name: "intensity"}, {name: "density"}}}
	for _, step := range sumSteps {
		if !sums {
			break
		}
		for _, name := range sumNames {
			s.metrics = append(s.metrics, imported{name: fmt.Sprintf("%s_%ds", name, step)})
		}
	}
	s.sums = make([]importedSum, (len(s.metrics)-2)/len(sumNames))
	return s
}

// add adds a second. A mean is told as ours keeps it: in thousandths, below 0.2 in hundredths.
func (s *importedSeries) add(second int64, intensity, density float64) {
	s.metrics[0].add(second, intensity)
	s.metrics[1].add(second, density)
	for k := range s.sums {
		sum, step := &s.sums[k], int64(sumSteps[k])
		sum.greatest, sum.total, sum.density = max(sum.greatest, intensity), sum.total+intensity, sum.density+density
		if (second+1)%step != 0 {
			continue
		}
		mean, unit := sum.total/float64(step), 1000.0
		if mean < 0.2 {
			unit = 100
		}
		for i, v := range []float64{sum.greatest, math.Round(mean*unit) / unit, sum.density} {
			s.metrics[2+k*len(sumNames)+i].add(second+1-step, v)
		}
		*sum = importedSum{}
	}
}

// importDay sends a day of homes, and has it merged into one part.
func importDay(ctx context.Context, url string, h *homes, first int64, sums bool) error {
	const hour = 3600
	all := make([]importedSeries, columnsOfHome*len(h.homes))
	for n := range all {
		all[n] = newImportedSeries(sums)
	}
	for at := first; at < first+daySeconds; at += hour {
		for minute := range int64(hour / flushSeconds) {
			h.minute()
			for i := range h.homes {
				for second := range flushSeconds {
					step := h.frames[i][second*h.rate*columnsOfHome:]
					for k := range columnsOfHome {
						intensity, density := secondOf(step[k], step[columnsOfHome+k])
						all[i*columnsOfHome+k].add(at+minute*flushSeconds+int64(second), intensity, density)
					}
				}
			}
		}
		for n := range all {
			if err := all[n].send(ctx, url, n); err != nil {
				return err
			}
		}
	}
	for _, step := range []string{"/internal/force_flush", "/internal/force_merge"} {
		if err := post(ctx, url+step, &bytes.Buffer{}); err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // it says nothing of the end of either
	}
	return nil
}

// send sends what is new of series n.
func (s *importedSeries) send(ctx context.Context, url string, n int) error {
	for k := range s.metrics {
		m := &s.metrics[k]
		var line bytes.Buffer
		fmt.Fprintf(&line, `{"metric": {"__name__": %q, "network": "%d", "series": "%d"}, "values": [%s], "timestamps": [%s]}`+"\n",
			m.name, n/columnsOfHome, n%columnsOfHome, bytes.TrimRight(m.values, ","), bytes.TrimRight(m.times, ","))
		if err := post(ctx, url+"/api/v1/import", &line); err != nil {
			return err
		}
		m.values, m.times = m.values[:0], m.times[:0]
	}
	return nil
}

func post(ctx context.Context, url string, body *bytes.Buffer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}
