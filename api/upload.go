package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/motion/fault"
)

// uploadTime is how long a whole upload may take, with what is done about it before the answer.
const uploadTime = 15 * time.Minute

// Upload is the body of a request as it comes, instead of one that is held in memory: a field of
// this name and of type *Upload. The handler bounds its length. Each block has to arrive within
// [RequestTime].
type Upload struct {
	body    io.Reader
	media   string
	control *http.ResponseController
}

// Media returns the media type of the body, with its parameters, such as the boundary of a
// multipart one.
func (u *Upload) Media() string { return u.media }

// Read reads on. The answer has uploadTime from the last block on.
func (u *Upload) Read(b []byte) (int, error) {
	if u.control != nil { // without one, as in a test, it takes as long as it takes
		now := time.Now()
		_ = u.control.SetReadDeadline(now.Add(RequestTime))
		_ = u.control.SetWriteDeadline(now.Add(uploadTime))
	}
	n, err := u.body.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault.New(fault.Malformed, "body breaks off: %v", err)
	}
	return n, err
}

// wholeBodyKey is where the context of a request has its body without the bound of other operations.
type wholeBodyKey struct{}

// WithWholeBody keeps the body of a request for an Upload, before it is bounded by MaxBody.
func WithWholeBody(ctx context.Context, body io.Reader) context.Context {
	return context.WithValue(ctx, wholeBodyKey{}, body)
}

// upload returns the body of a request as the handler reads it.
func (r *Request) upload(w http.ResponseWriter) *Upload {
	u := &Upload{body: r.http.Body, media: r.http.Header.Get("Content-Type"), control: http.NewResponseController(w)}
	if whole, ok := r.http.Context().Value(wholeBodyKey{}).(io.Reader); ok {
		u.body = whole
	}
	return u
}

// uploadIn returns the field of an input that is the body as it comes; nil: it has none.
func uploadIn(kind reflect.Type) []int {
	if field, ok := kind.FieldByName("Upload"); ok && field.Type == reflect.TypeFor[*Upload]() {
		return field.Index
	}
	return nil
}

// describeUpload is a form with a passphrase and a file.
func describeUpload() *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"passphrase": {Type: huma.TypeString, Description: "Of the file, empty for none; before it"},
			"file":       {Type: huma.TypeString, Format: "binary"},
		},
	}}}}
}
