// Package timezone loads time zones by their name, on machines without a zone database too:
// the file system of a gateway seldom has one. It stands in for time/tzdata, which holds the
// same zones uncompressed and makes the program 345 KB larger.
package timezone

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// packed is the zone database of the Go release that builds this: for each zone its name and
// its file (RFC 9636), each after its length as a uvarint, all together deflated (RFC 1951).
// Zones with the same file follow one another. "go test ./motion/timezone -update" writes it.
//
//go:embed zones.deflate
var packed []byte

// embedded returns the files of all zones by their names. They are unpacked once, where the
// machine lacks a zone.
var embedded = sync.OnceValue(func() map[string][]byte {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("timezone: " + err.Error()) // it is part of the program
	}
	files := map[string][]byte{}
	for len(plain) > 0 {
		var name, file []byte
		name, plain = next(plain)
		file, plain = next(plain)
		files[string(name)] = file
	}
	return files
})

// next splits off what follows its length.
func next(text []byte) (first, rest []byte) {
	size, width := binary.Uvarint(text)
	end := width + int(size)
	return text[width:end:end], text[end:]
}

// Load returns the zone with an IANA name such as America/Toronto, as [time.LoadLocation]
// does: from the machine's database, or else from the one in the program.
func Load(name string) (*time.Location, error) { return load(name, time.LoadLocation) }

func load(name string, machine func(string) (*time.Location, error)) (*time.Location, error) {
	zone, err := machine(name)
	if err == nil {
		return zone, nil
	}
	file, ok := embedded()[name]
	if !ok {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, file)
}

// SetLocal makes the zone that the environment variable TZ names the local one. Package time
// does so by itself when the machine knows that zone.
func SetLocal() {
	if zone := local(os.Getenv("TZ"), time.LoadLocation); zone != nil {
		time.Local = zone
	}
}

// local returns the zone that a value of TZ names; nil: package time finds it, or nobody does.
func local(value string, machine func(string) (*time.Location, error)) *time.Location {
	name := strings.TrimPrefix(value, ":")
	if _, err := machine(name); err == nil {
		return nil
	}
	zone, err := load(name, machine)
	if err != nil {
		return nil
	}
	return zone
}
