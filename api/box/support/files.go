package support

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// File is one file of a bundle.
type File struct {
	Name    string // such as status.json
	About   string // what is in it, a sentence for the README
	Content []byte
}

// JSON returns a file with a value as JSON that people can read.
func JSON(name, about string, value any) (File, error) {
	raw, err := json.MarshalIndent(value, "", "  ")
	return File{name, about, append(raw, '\n')}, err
}

// readme begins the README of a bundle.
const readme = `This is a support bundle of sensegate: what helps to find out why an appliance does not work as it
should. Look through it before you hand it on; it is text alone.

It holds no names, no addresses (IP, MAC, e-mail, hosts), no passwords, keys, tokens or ids, no motion,
and no time at which somebody was at home, or added, changed or removed something. What has a name at home is called by a
stand-in such as network-1, room-2 or device-3: the same one in every file here, another one in the next
bundle. What the program says for people stands here where it is a sentence of its own, of a library or of the
system; "…" stands for every other word. Numbers that grow with what happens at home have two digits. Of the log there
are the lines about the machine: when it started, what its disk and its uplinks did. What somebody at home, a
device of theirs or motion may have brought about stands at the end, without a time. Lines that tell what
people do, when a phone asks or where motion was are left out and counted.

`

// noTime is the time of every file of a bundle: the first that a zip archive can have.
var noTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Zip returns a bundle as a zip archive, with a README.txt in front.
func Zip(files []File) ([]byte, error) {
	text := readme
	for _, f := range files {
		text += fmt.Sprintf("%-20s %s\n", f.Name, f.About)
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range append([]File{{Name: "README.txt", Content: []byte(text)}}, files...) {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: noTime})
		if err != nil {
			return nil, fmt.Errorf("support bundle: %w", err)
		}
		if _, err := w.Write(f.Content); err != nil {
			return nil, fmt.Errorf("support bundle: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("support bundle: %w", err)
	}
	return out.Bytes(), nil
}

// Round returns a number by its first two digits, and what is small by tens: how records grow one by one
// tells when a household moves.
func Round[N int | int64 | uint64](n N) N {
	step := N(10)
	for n/step >= 100 {
		step *= 10
	}
	return (n + step/2) / step * step
}

// About says about how many of something there are that comes with what happens at home: one more or less is
// not seen.
func About[N int | uint64](n N) string {
	switch {
	case n == 0:
		return "none"
	case n < 10:
		return "several"
	}
	return fmt.Sprint("about ", Round(n))
}

// RoundBytes is Round of a number of bytes in KiB: a single record that comes or goes is not seen.
func RoundBytes(n int) int { return Round((n+512)>>10) << 10 }

// Version returns what a program calls its version, "" when that could be anything else.
func Version(text string) string {
	if aVersion().MatchString(text) {
		return text
	}
	return ""
}

var aVersion = pattern(`^v?[0-9]{1,4}(\.[0-9]{1,4}){0,2}([-+.]?(alpha|beta|dev|dirty|pre|rc)[-.]?[0-9]{0,3})?$`)

// Setting returns the value of a key of the configuration as it may be shown: a number, a size, one of
// the words that the product knows, a port, or its default. Otherwise a stand-in; "" stays empty.
func (n *Names) Setting(key, value, standard string) string {
	switch {
	case value == "" || value == standard || everyAddress().MatchString(value) || everyHost().MatchString(value) || value == "off" || value == "true" || value == "false":
		return value
	case plainValue().MatchString(value) && plainValue().MatchString(standard) && !strings.HasSuffix(key, "network"):
		return value
	case (wordSettings[key] || strings.HasSuffix(key, ".use")) && !slices.ContainsFunc(strings.Split(value, ", "), func(word string) bool { return !valuesKept[word] }):
		return value // a mistake is none of these
	}
	names := []string{value}
	for item := range strings.SplitSeq(value, ", ") {
		names = append(names, item)
		if u, err := url.Parse(item); err == nil {
			names = append(names, u.Hostname())
		}
		if host, _, err := net.SplitHostPort(item); err == nil {
			names = append(names, host)
		}
	}
	stand := n.known(names...)
	if stand == "" {
		stand = n.Add("setting", value)
	}
	n.Also(stand, names...)
	return stand
}

var (
	everyHost    = pattern(`^(?:127\.0\.0\.1|0\.0\.0\.0|::1?|\[::1?\]|localhost)$`)
	everyAddress = pattern(`^(?:(?:https?|mqtts?|wss?)://)?(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|localhost)?(?::[0-9]{1,5})?/?$`)
	plainValue   = pattern(`^(?:true|false|[0-9]{1,9}[a-zA-Z]{0,3}|(?:[0-9]{1,6}(?:\.[0-9]+)?(?:h|m|s|ms)){1,3})$`)
	valuesKept   = wordSet(`any cloud commands debug error events history home_assistant info implicit json live never none private same-address starttls text warn zigbee2mqtt`)
	wordSettings = wordSet(`log.level log.format web.admin gatekeeper.readopt mail.smtp.tls sensors.provider`)
)
