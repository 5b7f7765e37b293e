package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

const victoriaMetrics = "VictoriaMetrics, 10 networks, without sums"

// besideVictoria returns the row of disk with VictoriaMetrics as its peer, and rows of the seconds alone, which is what the peer keeps.
func (b *bench) besideVictoria(ctx context.Context, disk figure, size map[string]float64, profile string) []figure {
	disk.Reach, disk.Peer = atMostOfPeer(1), victoriaMetrics
	disk.Peers, disk.Err = b.victoria(ctx, profile)
	pages, values := disk, disk
	pages.What, pages.Reach, pages.Ours = disk.What+": pages with seconds", bound{}, disk.Ours*size["seconds"]/size["bytes"]
	values.What, values.Reach, values.Ours = disk.What+": what these pages hold", bound{}, disk.Ours*size["values"]/size["bytes"]
	return []figure{disk, pages, values}
}

// victoria stores a day of homes in Debian's VictoriaMetrics, an hour of a series at a time, and returns its bytes of a row, in
// the data that it has merged and its index.
func (b *bench) victoria(ctx context.Context, profile string) (_ float64, err error) {
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
		err = importDay(ctx, "http://"+address, newHomes(kind, victoriaHomes, 2), startOfDays(6))
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

// importDay sends a day of homes, and has it merged into one part.
func importDay(ctx context.Context, url string, h *homes, first int64) error {
	const hour = 3600
	type column struct{ values, times []byte }
	for at := first; at < first+daySeconds; at += hour {
		columns := make([]column, 2*columnsOfHome*len(h.homes)) // intensity and density of each series
		for minute := range int64(hour / flushSeconds) {
			h.minute()
			for i := range h.homes {
				for second := range flushSeconds {
					stamp := (at + minute*flushSeconds + int64(second)) * 1000
					step := h.frames[i][second*h.rate*columnsOfHome:]
					for k := range columnsOfHome {
						intensity, density := secondOf(step[k], step[columnsOfHome+k])
						for j, v := range []float64{intensity, density} {
							c := &columns[2*(i*columnsOfHome+k)+j]
							c.values = append(strconv.AppendFloat(c.values, v, 'f', -1, 64), ',')
							c.times = append(strconv.AppendInt(c.times, stamp, 10), ',')
						}
					}
				}
			}
		}
		for n, c := range columns {
			var line bytes.Buffer
			fmt.Fprintf(&line, `{"metric": {"__name__": %q, "network": "%d", "series": "%d"}, "values": [%s], "timestamps": [%s]}`+"\n",
				[]string{"intensity", "density"}[n%2], n/2/columnsOfHome, n/2%columnsOfHome, bytes.TrimRight(c.values, ","), bytes.TrimRight(c.times, ","))
			if err := post(ctx, url+"/api/v1/import", &line); err != nil {
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
