package notify

import (
	"strings"

	"rsc.io/qr"
)

// quiet is the width of the light border of a QR code, in modules.
const quiet = 2

// QRImage returns a link as a QR code, a PNG image.
func QRImage(link string) ([]byte, error) {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return nil, err
	}
	return code.PNG(), nil
}

// QRText returns a link as a QR code for a terminal: two rows of modules to a line, in
// half blocks, light on dark.
func QRText(link string) (string, error) {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			upper, lower := !code.Black(x, y), !code.Black(x, y+1) && y+1 < code.Size+quiet
			switch {
			case upper && lower:
				text.WriteRune('█')
			case upper:
				text.WriteRune('▀')
			case lower:
				text.WriteRune('▄')
			default:
				text.WriteRune(' ')
			}
		}
		text.WriteByte('\n')
	}
	return text.String(), nil
}
