package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser runs the program in a container: the number that images without a shell use.
const imageUser = 65532

// writeImage writes an OCI image layout, as a tar, of one image for all targets that have one.
func writeImage(s source, binaries []binary, path string) error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range binaries {
		if b.image == "-" {
			continue
		}
		image, err := imageOf(s, b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: b.arch, Variant: b.image}}})
	}
	// One entry, which is for several machines, with the name that programs load it under.
	named := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{
		Annotations: map[string]string{"org.opencontainers.image.ref.name": "sensegate:" + s.version, "io.containerd.image.name": "localhost/sensegate:" + s.version}}})
	dir, err := os.MkdirTemp("", "sensegate-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, named); err != nil {
		return err
	}
	var entries []entry
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			entries = append(entries, entry{name: name + "/", mode: 0o755})
			return nil
		}
		content, err := os.ReadFile(file)
		entries = append(entries, entry{name: name, mode: 0o644, content: content})
		return err
	})
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := writeTar(file, s.date, entries); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// imageOf is the image for one target.
func imageOf(s source, b binary) (v1.Image, error) {
	entries, err := imageFiles(b)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	if err := writeTar(&files, s.date, entries); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: s.date}, CreatedBy: "sensegate"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configOf(s, b, config.DeepCopy()))
}

// configOf completes what config says of the layers by how the image is run.
func configOf(s source, b binary, config *v1.ConfigFile) *v1.ConfigFile {
	config.OS, config.Architecture, config.Variant, config.Created = "linux", b.arch, b.image, v1.Time{Time: s.date}
	config.Config = v1.Config{
		User: "65532:65532", WorkingDir: "/data", Entrypoint: []string{"/usr/bin/sensegate"}, StopSignal: "SIGTERM",
		Env:          []string{"PATH=/usr/bin", "SENSEGATE_STATE_DIR=/data"},
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8443/tcp": {}, "1883/tcp": {}, "8883/tcp": {}, "5353/udp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "sensegate", "org.opencontainers.image.description": "Motion sensing from Wi-Fi signals",
			"org.opencontainers.image.version": s.version, "org.opencontainers.image.revision": s.commit,
			"org.opencontainers.image.created": s.date.Format(time.RFC3339), "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// imageFiles are all files of the image.
func imageFiles(b binary) ([]entry, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	return []entry{
		{name: "data/", mode: 0o700, uid: imageUser, gid: imageUser},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nsensegate:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/:/sbin/nologin\nsensegate:x:65532:65532:sensegate:/data:/sbin/nologin\n")},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities()},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/sensegate", mode: 0o755, content: program},
	}, nil
}

// authorities are the certificate authorities that Mozilla trusts for web servers, as PEM, but those
// that it trusts with constraints that PEM cannot tell. Uplinks, mail and push need them.
func authorities() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return all.Bytes()
}
