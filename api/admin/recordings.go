package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sensegate/api/box"
	"sensegate/api/box/recording"
	"sensegate/motion"
)

// recordingOrder is the body of the command that begins a recording.
type recordingOrder struct {
	NetworkID motion.NetworkID `json:"network_id"` // 0: the only one
	Links     []string         `json:"links"`      // none: all
	Minutes   int              `json:"minutes"`
	Label     recording.Label  `json:"label"`
}

// recordingLabel is the body of the command that says what happens.
type recordingLabel struct {
	Label recording.Label `json:"label"`
}

func (s *Server) serveRecord(r *http.Request, body recordingOrder) (any, error) {
	return s.box.StartRecording(r.Context(), actor(r), recording.Order{Network: body.NetworkID, Links: body.Links, Minutes: body.Minutes, Label: body.Label})
}

func (s *Server) serveRecordings(r *http.Request) (any, error) {
	return s.box.Recordings(r.Context(), actor(r))
}

func (s *Server) serveLabelRecording(r *http.Request, body recordingLabel) (any, error) {
	return struct{}{}, s.box.LabelRecording(r.Context(), actor(r), body.Label)
}

func (s *Server) serveStopRecording(r *http.Request) (any, error) {
	return s.box.StopRecording(r.Context(), actor(r))
}

func (s *Server) serveReadRecording(r *http.Request) (any, error) {
	return s.box.ReadRecording(r.Context(), actor(r), r.PathValue("name"))
}

func (s *Server) serveDeleteRecording(r *http.Request) (any, error) {
	return struct{}{}, s.box.DeleteRecording(r.Context(), actor(r), r.PathValue("name"))
}

// serveRecordingFile answers with a file of a recording.
func (s *Server) serveRecordingFile(w http.ResponseWriter, r *http.Request) {
	file, err := s.box.OpenRecording(r.PathValue("name"), r.PathValue("file"))
	if err != nil {
		s.refuse(w, r.Pattern, err)
		return
	}
	defer file.Close()
	if _, err := io.Copy(w, file); err != nil {
		s.box.Log.Warn("file of a recording not sent completely", "err", err)
	}
}

// showRecordings shows the list of recordings.
func showRecordings(w io.Writer, found box.Recordings) {
	fmt.Fprintln(w, "RECORDING\tNETWORK\tLASTED\tFRAMES\tDROPPED\tSIZE\tFILES\tENDED BY")
	if found.Running != nil {
		found.Complete = append([]recording.Recording{*found.Running}, found.Complete...)
	}
	for _, one := range found.Complete {
		lasted, why := "-", "runs"
		if one.Ended != 0 {
			lasted, why = clockTime(one.Ended.Since(one.Started)), one.Why
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%s\t%d\t%s\n", one.Name, one.Network, lasted, one.Frames, one.Dropped, megabytes(one.Bytes), len(one.Files), why)
	}
}

// clockTime returns a time as minutes and seconds: 9:05.
func clockTime(t motion.Seconds) string {
	return fmt.Sprintf("%d:%02d", int(max(0, t))/60, int(max(0, t))%60)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// getRecording copies the files of a recording into a new directory of its name.
func getRecording(ctx context.Context, c command, arguments []string) error {
	if len(arguments) == 0 || len(arguments) > 2 {
		return errors.New("want the recording, as record list shows it, and the directory to make; without one it has the recording's name")
	}
	path := "/recordings/" + url.PathEscape(arguments[0])
	var found recording.Recording
	if err := c.client.do(ctx, http.MethodPost, path+"/read", nil, &found); err != nil {
		return err
	}
	directory := found.Name
	if len(arguments) == 2 {
		directory = arguments[1]
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	for _, f := range found.Files {
		if err := c.copyFile(ctx, path+"/"+url.PathEscape(f.Name), filepath.Join(directory, filepath.Base(f.Name))); err != nil {
			return err
		}
	}
	return c.print(found, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d files, %d frames\n\nThey tell who moves when, and how: keep them where nobody else reads them.\n", strings.TrimSuffix(directory, "/"), len(found.Files), found.Frames)
	})
}

// copyFile copies what is at a path of the appliance to a new file.
func (c command) copyFile(ctx context.Context, from, to string) error {
	answer, err := c.client.stream(ctx, from)
	if err != nil {
		return err
	}
	defer answer.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, answer)
	return errors.Join(err, file.Close())
}
