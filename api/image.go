package api

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"
)

// pngType is the media type of a PNG image.
const pngType = "image/png"

// PNG is an answer that is a PNG image.
type PNG []byte

// ContentType returns the media type, whatever was asked for.
func (PNG) ContentType(string) string { return pngType }

// Schema describes the image.
func (PNG) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A PNG image"}
}

func (p PNG) encoded() []byte { return p }

// pngFormat writes images; a body in it is refused before anybody reads it.
var pngFormat = huma.Format{
	Marshal:   jsonFormat.Marshal,
	Unmarshal: func([]byte, any) error { return errors.New("want JSON") },
}
