package api

import "github.com/danielgtaylor/huma/v2"

// PNG is an answer that is a PNG image.
type PNG []byte

// Schema describes the image.
func (PNG) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A PNG image"}
}

func (PNG) mediaType() string { return "image/png" }

func (p PNG) encoded() []byte { return p }
