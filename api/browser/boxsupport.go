package browser

import (
	"context"
	"io"
	"mime"
	"strconv"
	"time"

	"sensegate/api/auth"
)

func (b *Browser) support(ctx context.Context, who auth.Administrator, _ *struct{}) (*backupOut, error) {
	archive, err := b.Box.Support(ctx, who.Actor)
	if err != nil {
		return nil, err
	}
	name := time.Now().UTC().Format("sensegate-support-20060102.zip")
	return &backupOut{
		Name: mime.FormatMediaType("attachment", map[string]string{"filename": name}), Size: strconv.Itoa(len(archive)),
		Body: func(_ context.Context, w io.Writer) error {
			_, err := w.Write(archive)
			return err
		},
	}, nil
}
