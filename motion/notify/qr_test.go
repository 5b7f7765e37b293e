package notify

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

func TestLinkIsDrawnAsTheSameCodeInPixelsAndInHalfBlocks(t *testing.T) {
	t.Parallel()
	link := base + "/reset?token=" + strings.Repeat("eyJhbGciOiJIUzI1NiJ9", 20)
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	text, err := QRText(link)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(rows) != (code.Size+2*quiet+1)/2 {
		t.Fatalf("%d rows for %d modules", len(rows), code.Size)
	}
	for i, row := range rows {
		if n := utf8.RuneCountInString(row); n != code.Size+2*quiet {
			t.Fatalf("row %d has %d columns", i, n)
		}
		x := -quiet
		for _, r := range row {
			y := 2*i - quiet
			upper, lower := r == '█' || r == '▀', r == '█' || r == '▄'
			if upper == code.Black(x, y) || y+1 < code.Size+quiet && lower == code.Black(x, y+1) {
				t.Fatalf("%c at %d, %d", r, x, y)
			}
			x++
		}
	}
	raw, err := QRImage(link)
	if err != nil {
		t.Fatal(err)
	}
	image, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	scale := image.Bounds().Dx() / (code.Size + 8)
	for y := range code.Size {
		for x := range code.Size {
			if r, _, _, _ := image.At((x+4)*scale, (y+4)*scale).RGBA(); (r == 0) != code.Black(x, y) {
				t.Fatalf("pixel of %d, %d", x, y)
			}
		}
	}
}

func TestLinkThatIsTooLongIsNotDrawn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	if _, err := QRImage(long); err == nil {
		t.Error("drawn in pixels")
	}
	if _, err := QRText(long); err == nil {
		t.Error("drawn in blocks")
	}
}
