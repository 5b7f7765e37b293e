package browser

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strconv"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/box/staging"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

type backupIn struct {
	Body struct {
		Passphrase string `json:"passphrase,omitempty" maxLength:"512" doc:"At least 12 characters, by which the file is encrypted" example:"six words of your own are good"`
		Plain      bool   `json:"plain,omitempty" doc:"Whether it is to be sent without a passphrase: whoever reads it knows the household"`
	}
}

type backupOut struct {
	Name string `header:"Content-Disposition"`
	Size string `header:"X-Sensegate-Size" doc:"Bytes that come"`
	Body api.File
}

func (b *Browser) backup(ctx context.Context, who auth.Administrator, in *backupIn) (*backupOut, error) {
	if (in.Body.Passphrase == "") != in.Body.Plain {
		return nil, fault.New(fault.Invalid, "passphrase: want one of at least 12 characters, or plain: true")
	}
	copied, err := b.Box.Download(ctx, who.Actor, in.Body.Passphrase)
	if err != nil {
		return nil, err
	}
	return &backupOut{
		Name: mime.FormatMediaType("attachment", map[string]string{"filename": copied.Name}), Size: strconv.FormatInt(copied.Size, 10),
		Body: func(_ context.Context, w io.Writer) error {
			_, err := copied.WriteTo(w)
			return errors.Join(err, copied.Close())
		},
	}, nil
}

type stagedBackup struct {
	InstalledAt motion.Time  `json:"installed_at" doc:"When its appliance was installed" example:"1750000000"`
	MadeAt      *motion.Time `json:"made_at" nullable:"true" doc:"When the newest of what it holds happened: it was made then or soon after; null: not known" example:"1763990000"`
	Size        int64        `json:"size" doc:"Bytes" example:"1500000"`
	Networks    int          `json:"networks" example:"1"`
	Users       int          `json:"users" doc:"Accounts" example:"2"`
	Homes       []string     `json:"homes" nullable:"false" doc:"Names, at most 100"`
	Owners      []string     `json:"owners" nullable:"false" doc:"Addresses, at most 100"`
	UploadedAt  motion.Time  `json:"uploaded_at" example:"1764000060"`
	By          string       `json:"by" doc:"Address of who has uploaded it" example:"jdoe@example.com"`
}

func stagedOf(s staging.Staged) *stagedBackup {
	shown := &stagedBackup{
		InstalledAt: s.InstalledAt, MadeAt: knownTime(s.NewestAt), Size: s.Size, Networks: s.Networks, Users: s.Users,
		Homes: s.Homes, Owners: s.Owners, UploadedAt: s.UploadedAt, By: s.By.Name,
	}
	if shown.Homes == nil {
		shown.Homes = []string{}
	}
	if shown.Owners == nil {
		shown.Owners = []string{}
	}
	return shown
}

type lastRestore struct {
	At   motion.Time `json:"at" example:"1764000060"`
	By   string      `json:"by" doc:"Address of who wanted it" example:"jdoe@example.com"`
	OK   bool        `json:"ok" doc:"Whether the backup is the database now"`
	Text string      `json:"text" doc:"What was restored, or why not, in words"`
}

type restoreOut struct {
	Body struct {
		Staged *stagedBackup `json:"staged,omitempty" doc:"The backup that was uploaded and can be applied; left out: none"`
		Last   *lastRestore  `json:"last,omitempty" doc:"What came of the last restore; left out: there was none"`
	}
}

func (b *Browser) restoring(context.Context, auth.Administrator, *struct{}) (*restoreOut, error) {
	out := &restoreOut{}
	staged, err := b.Box.Staging.Staged()
	if err != nil {
		return nil, err
	}
	if staged != nil {
		out.Body.Staged = stagedOf(*staged)
	}
	last, err := b.Box.Staging.Last()
	if last != nil {
		out.Body.Last = &lastRestore{At: last.At, By: last.By.Name, OK: last.OK, Text: last.Text}
	}
	return out, err
}

type stageIn struct{ Upload *api.Upload }

type stageOut struct{ Body stagedBackup }

// formBytes is how much of a form a part before the file may have.
const formBytes = 4 << 10

func (b *Browser) stage(ctx context.Context, who auth.Administrator, in *stageIn) (*stageOut, error) {
	words, file, err := backupForm(in.Upload)
	if err != nil {
		return nil, err
	}
	staged, err := b.Box.Stage(ctx, who.Actor, file, 0, words)
	if err != nil {
		return nil, err
	}
	if err := b.stillAdministers(ctx, who); err != nil { // an upload takes its time
		return nil, errors.Join(err, b.Box.DropStaged(ctx, who.Actor))
	}
	return &stageOut{*stagedOf(staged)}, nil
}

// stillAdministers returns why an administrator may do nothing more.
func (b *Browser) stillAdministers(ctx context.Context, who auth.Administrator) error {
	if err := b.Sessions.StillOpen(ctx, who.User); err != nil {
		return err
	}
	is, err := store.Read(ctx, b.DB, func(tx *store.Tx) (bool, error) { return tx.IsAdministrator(who.ID) })
	if err == nil && !is {
		err = fault.New(fault.Forbidden, "administrator: you are none any more")
	}
	return err
}

// backupForm reads a form as far as the file, which comes last, and returns the passphrase before it.
func backupForm(u *api.Upload) (words string, file io.Reader, err error) {
	_, parameters, err := mime.ParseMediaType(u.Media())
	if err != nil || parameters["boundary"] == "" {
		return "", nil, fault.New(fault.Malformed, "body: want multipart/form-data with a passphrase and a file")
	}
	form := multipart.NewReader(u, parameters["boundary"])
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil, fault.New(fault.Malformed, "body: has no file")
		case err != nil:
			return "", nil, fault.New(fault.Malformed, "body: %v", err)
		}
		switch part.FormName() {
		case "passphrase":
			text, err := io.ReadAll(io.LimitReader(part, formBytes))
			if err != nil || len(text) == formBytes {
				return "", nil, fault.New(fault.Malformed, "passphrase: cannot be read, or is too long")
			}
			words = string(text)
		case "file":
			return words, part, nil
		default:
			return "", nil, fault.New(fault.Malformed, "body: want a passphrase and then a file, found %.40q", part.FormName())
		}
	}
}

func (b *Browser) dropStaged(ctx context.Context, who auth.Administrator, _ *struct{}) (*struct{}, error) {
	return nil, b.Box.DropStaged(ctx, who.Actor)
}

type applyIn struct {
	Body struct {
		UploadedAt motion.Time `json:"uploaded_at" doc:"Of the backup that the administrator has seen; another one meanwhile is a 409" example:"1764000060"`
	}
}

func (b *Browser) applyStaged(_ context.Context, who auth.Administrator, in *applyIn) (*struct{}, error) {
	return nil, b.Box.Restore(who.Actor, in.Body.UploadedAt)
}
