package timezone

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write zones.deflate anew, from the zones of the Go release")

// zoneFile is a zone as the database has it.
type zoneFile struct {
	name string
	data []byte
}

// released returns the zones of the Go release, those with the same file after one another.
func released(t *testing.T) []zoneFile {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var zones []zoneFile
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zoneFile{f.Name, data})
	}
	slices.SortFunc(zones, func(a, b zoneFile) int { return cmp.Or(bytes.Compare(a.data, b.data), cmp.Compare(a.name, b.name)) })
	return zones
}

// pack returns the zones as Load unpacks them.
func pack(t *testing.T, zones []zoneFile) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range zones {
		for _, text := range [][]byte{[]byte(zone.name), zone.data} {
			if _, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(text))), text...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Every zone that time/tzdata would have is there, as it has it, and no other.
func TestZonesAreThoseOfTheGoRelease(t *testing.T) {
	t.Parallel()
	zones := released(t)
	if len(zones) < 500 {
		t.Fatalf("the Go release has %d zones", len(zones))
	}
	if *update {
		if err := os.WriteFile("zones.deflate", pack(t, zones), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(embedded()) != len(zones) {
		t.Errorf("%d zones, want %d", len(embedded()), len(zones))
	}
	for _, zone := range zones {
		if !bytes.Equal(embedded()[zone.name], zone.data) {
			t.Fatalf("%s is another one in the Go release: go test ./motion/timezone -update", zone.name)
		}
		if _, err := load(zone.name, withoutZones); err != nil {
			t.Errorf("%s: %v", zone.name, err)
		}
	}
}

// withoutZones is a machine without a zone database.
func withoutZones(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	return nil, errors.New("unknown time zone " + name)
}

func TestMachineWithoutZonesKnowsThem(t *testing.T) {
	t.Parallel()
	zone, err := load("America/Toronto", withoutZones)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := time.Unix(1_750_000_000, 0).In(zone).Format(time.RFC3339), "2025-06-15T11:06:40-04:00"; got != want {
		t.Errorf("summer: %s, want %s", got, want)
	}
	if got, want := time.Unix(1_765_000_000, 0).In(zone).Format(time.RFC3339), "2025-12-06T00:46:40-05:00"; got != want {
		t.Errorf("winter: %s, want %s", got, want)
	}
	if zone.String() != "America/Toronto" {
		t.Errorf("name %q", zone)
	}
}

func TestTheMachinesOwnZoneComesFirst(t *testing.T) {
	t.Parallel()
	own := time.FixedZone("Asia/Kolkata", 5*60*60)
	machine := func(string) (*time.Location, error) { return own, nil }
	if zone, err := load("Asia/Kolkata", machine); zone != own || err != nil {
		t.Errorf("%v, %v", zone, err)
	}
	if zone := local("Asia/Kolkata", machine); zone != nil {
		t.Errorf("local zone %v, want that of package time", zone)
	}
}

func TestLocalZoneIsThatOfTZ(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"Asia/Kolkata": "Asia/Kolkata", ":Asia/Kolkata": "Asia/Kolkata", "": "", ":": "", "UTC": "", "/etc/zone": "", "CET-1CEST": ""} {
		zone := local(value, withoutZones)
		if (zone == nil) != (want == "") || zone != nil && zone.String() != want {
			t.Errorf("TZ=%q: %v, want %q", value, zone, want)
		}
	}
}

func TestUnknownZonesAreNotFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Nowhere", "europe/berlin", "../Europe/Berlin", "Europe/Berlin\x00", strings.Repeat("a", 1000)} {
		if zone, err := Load(name); err == nil {
			t.Errorf("%q: %v", name, zone)
		}
	}
	for _, name := range []string{"", "UTC"} {
		if zone, err := Load(name); err != nil || zone != time.UTC {
			t.Errorf("%q: %v, %v", name, zone, err)
		}
	}
}
