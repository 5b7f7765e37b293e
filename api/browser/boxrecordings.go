package browser

import (
	"context"
	"errors"
	"io"
	"mime"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/box/recording"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

type boxRecording struct {
	Name      string           `json:"name" example:"20251124-160100-17"`
	NetworkID motion.NetworkID `json:"network_id" example:"17"`
	Started   motion.Time      `json:"started" example:"1764000060"`
	Ended     *motion.Time     `json:"ended" nullable:"true" doc:"null: it runs" example:"1764000660"`
	Minutes   int              `json:"minutes" doc:"It was to last" example:"10"`
	LeftS     int              `json:"left_s" doc:"Seconds until it ends by itself; 0: it has ended" example:"0"`
	Links     int              `json:"links" doc:"That were recorded" example:"3"`
	Frames    int              `json:"frames" example:"45000"`
	Dropped   int              `json:"dropped" doc:"Frames that came too fast to be written" example:"0"`
	Bytes     int64            `json:"bytes" example:"6200000"`
	Label     string           `json:"label" enum:",empty,still,moving" doc:"What happens now; empty: not said, or it has ended" example:""`
	Why       string           `json:"why" enum:",time,stopped,size,disk,box,cut,failed" doc:"Why it has ended; empty: it runs" example:"time"`
}

func (b *Browser) boxRecordingOf(r recording.Recording) boxRecording {
	left := 0.0
	if r.Ended == 0 {
		left = max(0, float64(60*r.Minutes)-b.Engine.State.Now().Since(r.Started))
	}
	links := map[string]bool{}
	for _, f := range r.Files {
		links[f.Link] = true
	}
	return boxRecording{
		Name: r.Name, NetworkID: r.Network, Started: r.Started, Ended: knownTime(r.Ended), Minutes: r.Minutes, LeftS: int(left), Links: len(links),
		Frames: r.Frames, Dropped: r.Dropped, Bytes: r.Bytes, Label: string(r.Label), Why: r.Why,
	}
}

type recordedLink struct {
	Link string `json:"link" example:"134-135"`
	From string `json:"from" doc:"Name of the node at one end" example:"GWA1000133"`
	To   string `json:"to" doc:"Name of the node or leaf at the other" example:"Plug hall"`
}

type recordedHome struct {
	ID    motion.NetworkID `json:"id" doc:"Network" example:"17"`
	Name  string           `json:"name" example:"Home"`
	Links []recordedLink   `json:"links" nullable:"false"`
}

type boxRecordingsOut struct {
	Body struct {
		Homes      []recordedHome `json:"homes" nullable:"false" doc:"Where the caller lives: others are not recorded here"`
		Running    *boxRecording  `json:"running,omitempty" doc:"Of those homes; left out: none"`
		Busy       bool           `json:"busy" doc:"Whether one runs, of whichever home"`
		Recordings []boxRecording `json:"recordings" nullable:"false" doc:"Of those homes, the newest first"`
	}
}

func (b *Browser) boxRecordings(ctx context.Context, who auth.Administrator, _ *struct{}) (*boxRecordingsOut, error) {
	found, err := b.Box.Recordings(ctx, who.Actor)
	if err != nil {
		return nil, err
	}
	out := &boxRecordingsOut{}
	out.Body.Recordings, out.Body.Busy = []boxRecording{}, found.Busy
	for _, r := range found.Complete {
		out.Body.Recordings = append(out.Body.Recordings, b.boxRecordingOf(r))
	}
	if found.Running != nil {
		running := b.boxRecordingOf(*found.Running)
		out.Body.Running = &running
	}
	out.Body.Homes, err = b.recordedHomes(ctx, who.ID)
	return out, err
}

// recordedHomes returns the homes where a user lives, with their links.
func (b *Browser) recordedHomes(ctx context.Context, user home.UserID) ([]recordedHome, error) {
	homes := []recordedHome{}
	err := b.DB.View(ctx, func(tx *store.Tx) error {
		memberships, err := tx.MembershipsOfUser(user)
		if err != nil {
			return err
		}
		for _, m := range memberships {
			house, err := tx.Home(m.Home)
			if err != nil {
				return err
			}
			homes = append(homes, recordedHome{house.ExternalID, house.Name, []recordedLink{}})
		}
		return nil
	})
	for i := range homes {
		links, also := b.Household.Links(ctx, homes[i].ID, household.Viewer{User: user, Resident: true})
		err = errors.Join(err, also)
		for k := range links {
			homes[i].Links = append(homes[i].Links, recordedLink{links[k].Link, links[k].From.Name, links[k].To.Name})
		}
	}
	return homes, err
}

type recordIn struct {
	Body struct {
		NetworkID motion.NetworkID `json:"network_id" minimum:"1" doc:"Of a home where the caller lives" example:"17"`
		Links     []string         `json:"links,omitempty" maxItems:"200" doc:"Empty: all, also those that come later"`
		Minutes   int              `json:"minutes" minimum:"1" maximum:"240" example:"10"`
	}
}

type recordOut struct{ Body boxRecording }

func (b *Browser) record(ctx context.Context, who auth.Administrator, in *recordIn) (*recordOut, error) {
	begun, err := b.Box.StartRecording(ctx, who.Actor, recording.Order{Network: in.Body.NetworkID, Links: in.Body.Links, Minutes: in.Body.Minutes})
	if err != nil {
		return nil, err
	}
	return &recordOut{b.boxRecordingOf(begun)}, nil
}

type labelIn struct {
	Body struct {
		Label string `json:"label" enum:",empty,still,moving" doc:"Empty: not said" example:"moving"`
	}
}

func (b *Browser) labelRecording(ctx context.Context, who auth.Administrator, in *labelIn) (*struct{}, error) {
	return nil, b.Box.LabelRecording(ctx, who.Actor, recording.Label(in.Body.Label))
}

func (b *Browser) stopRecording(ctx context.Context, who auth.Administrator, _ *struct{}) (*recordOut, error) {
	done, err := b.Box.StopRecording(ctx, who.Actor)
	if err != nil {
		return nil, err
	}
	return &recordOut{b.boxRecordingOf(done)}, nil
}

// RecordingPath names a recording.
type RecordingPath struct {
	Name string `path:"name" maxLength:"64" doc:"Of a recording" example:"20251124-160100-17"`
}

type recordingFileOut struct {
	Name string `header:"Content-Disposition"`
	Body api.File
}

func (b *Browser) downloadRecording(ctx context.Context, who auth.Administrator, in *RecordingPath) (*recordingFileOut, error) {
	found, err := b.Box.ReadRecording(ctx, who.Actor, in.Name)
	if err != nil {
		return nil, err
	}
	return &recordingFileOut{
		Name: mime.FormatMediaType("attachment", map[string]string{"filename": found.Name + ".zip"}),
		Body: func(_ context.Context, w io.Writer) error { return b.Box.WriteRecording(w, found) },
	}, nil
}

func (b *Browser) deleteRecording(ctx context.Context, who auth.Administrator, in *RecordingPath) (*struct{}, error) {
	return nil, b.Box.DeleteRecording(ctx, who.Actor, in.Name)
}
