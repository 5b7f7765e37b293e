package admin

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"sensegate/api/box"
	"sensegate/api/box/recording"
	"sensegate/motion"
)

// labelKeys are what a key does while a recording runs.
var labelKeys = map[byte]recording.Label{'e': recording.Empty, 's': recording.Still, 'm': recording.Moving, 'n': recording.Unlabelled}

// stopTime is how long the end of a recording may take.
const stopTime = 30 * time.Second

// record is the record command: it begins a recording, says how it goes on, and ends it with itself.
func record(flags *flag.FlagSet) action {
	network := flags.Uint("network", 0, "network to record; 0: the only one")
	links := flags.String("links", "", "links to record, as links shows them, with commas between; empty: all, also those that come later")
	minutes := flags.Int("minutes", 10, fmt.Sprintf("how long, 1 to %d", recording.MostMinutes))
	label := flags.String("label", "", "what happens at the beginning: "+strings.Join(recording.LabelNames(), ", ")+"; empty: not said")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 0 {
			return errors.New("record takes no argument besides list, get and delete: name links by -links")
		}
		order := recordingOrder{NetworkID: motion.NetworkID(*network), Minutes: *minutes, Label: recording.Label(*label)}
		if *links != "" {
			order.Links = strings.Split(*links, ",")
		}
		ctx, done := signal.NotifyContext(ctx, syscall.SIGHUP) // of a terminal that is gone
		defer done()
		return c.record(ctx, order, os.Stdin)
	}
}

// record records until that ends by itself, a key or ctx ends it.
func (c command) record(ctx context.Context, order recordingOrder, in *os.File) error {
	var now recording.Recording
	if err := c.client.do(ctx, http.MethodPost, "/recordings", order, &now); err != nil {
		return err
	}
	restore := singleKeys(in)
	defer restore()
	if !c.json {
		fmt.Fprintf(c.out, "Recording %s for %d minutes. Keys: e empty, s somebody still, m moving, n not labelled, q stop.\n", now.Name, now.Minutes)
	}
	pressed := make(chan byte)
	go readKeys(ctx, in, pressed) // it may wait for a key until the program ends
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return c.stopRecording(ctx, now)
		case key := <-pressed:
			if key == 'q' {
				return c.stopRecording(ctx, now)
			}
			if label, known := labelKeys[key]; known {
				err = c.client.do(ctx, http.MethodPost, "/recordings/label", recordingLabel{label}, &struct{}{})
			}
		case <-second.C:
		}
		if ctx.Err() != nil {
			continue
		}
		running := false
		if now, running, err = c.look(ctx, now, err); err != nil || !running {
			return errors.Join(err, c.showEnd(now))
		}
		if !c.json {
			left := motion.Seconds(60*now.Minutes) - motion.TimeOf(time.Now()).Since(now.Started)
			fmt.Fprintf(c.out, "\r%-12s %7d frames, %d dropped, %s, %s left ", cmp.Or(string(now.Label), "not labelled"), now.Frames, now.Dropped, megabytes(now.Bytes), clockTime(left))
		}
	}
}

// look returns how a recording is, and whether it still runs. A label that came too late is no error.
func (c command) look(ctx context.Context, of recording.Recording, err error) (recording.Recording, bool, error) {
	var found box.Recordings
	if again := c.client.do(ctx, http.MethodGet, "/recordings", nil, &found); again != nil {
		return of, false, again
	}
	if found.Running != nil && found.Running.Name == of.Name {
		return *found.Running, true, err
	}
	for _, one := range found.Complete {
		if one.Name == of.Name {
			return one, false, nil
		}
	}
	return of, false, errors.New("the recording is gone")
}

// stopRecording ends a recording, though ctx has ended.
func (c command) stopRecording(ctx context.Context, now recording.Recording) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := c.client.do(ctx, http.MethodPost, "/recordings/stop", nil, &now); err != nil {
		return err
	}
	return c.showEnd(now)
}

// showEnd says what was recorded.
func (c command) showEnd(of recording.Recording) error {
	return c.print(of, func(w io.Writer) {
		fmt.Fprintf(w, "\n%s: %d frames of %d files, %d dropped, %s (%s)\nsensegate record get %s\n", of.Name, of.Frames, len(of.Files), of.Dropped, megabytes(of.Bytes), of.Why, of.Name)
	})
}

// readKeys passes the keys that are pressed on, until ctx ends or nothing more comes.
func readKeys(ctx context.Context, in io.Reader, pressed chan<- byte) {
	var key [1]byte
	for {
		if _, err := in.Read(key[:]); err != nil {
			return
		}
		select {
		case pressed <- key[0]:
		case <-ctx.Done():
			return
		}
	}
}
