package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// unpack writes the files of a tar below a directory.
func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(content), h.FileInfo().Mode())
	}
}

// image returns the image for amd64 out of the tar, after all of it was checked.
func image(t *testing.T, r released) v1.Image {
	t.Helper()
	raw, err := os.ReadFile(r.artefact(t, "*-oci.tar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, bytes.NewReader(raw), dir)
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Fatal(err)
	}
	listed, err := outer.IndexManifest()
	if err != nil || len(listed.Manifests) != 1 {
		t.Fatalf("index.json: %v, %v; want one entry", listed, err)
	}
	index, err := outer.ImageIndex(listed.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range inner.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	is(t, "platforms", strings.Join(platforms, " "), "linux/amd64 linux/arm/v6")
	found, err := index.Image(inner.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheImageHolds(t *testing.T) {
	t.Parallel()
	r := built(t)
	image := image(t, r)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(config.Config.Volumes)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "volumes", string(shown), `{"/data":{}}`)
	is(t, "user", config.Config.User, "65532:65532")
	is(t, "entry point", strings.Join(config.Config.Entrypoint, " "), "/usr/bin/sensegate")
	is(t, "revision", config.Config.Labels["org.opencontainers.image.revision"], r.commit)
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers: %v, %v; want one", layers, err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	names, contents := listed(t, files)
	is(t, "files", strings.Join(names, "\n"), strings.Join([]string{"0644 : 0:0 etc/group", "0644 : 0:0 etc/passwd",
		"0644 : 0:0 etc/ssl/certs/ca-certificates.crt", "0755 : 0:0 usr/bin/sensegate"}, "\n"))
	if n := strings.Count(contents["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE"); n < 100 {
		t.Errorf("%d certificate authorities, want more than 100", n)
	}
}

// TestTheImageRuns runs the unpacked image as the user it names, on a read-only root.
func TestTheImageRuns(t *testing.T) {
	t.Parallel()
	needRoot(t) // to become the user
	need(t, "bwrap")
	image := image(t, built(t))
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	root, data := openDirectory(t), openDirectory(t)
	unpack(t, files, root)
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o755); err != nil { // made by runtimes of containers
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "dev"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chown(data, imageUser, imageUser), os.Chmod(data, 0o700)); err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "NOTIFY_SOCKET", "/data/notify",
		"--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", data, "/data", "--chdir", config.Config.WorkingDir}
	for _, variable := range config.Config.Env {
		name, value, _ := strings.Cut(variable, "=")
		args = append(args, "--setenv", name, value)
	}
	cmd := exec.Command("bwrap", append(args, config.Config.Entrypoint...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	service := supervise(t, cmd, filepath.Join(data, "notify"))
	if _, err := os.Stat(filepath.Join(data, "sensegate.db")); err != nil {
		t.Error(err)
	}
	if said := service.stop(t, syscall.SIGKILL); strings.Contains(said, "read-only file system") || strings.Contains(said, "level=ERROR") {
		t.Errorf("it misses something: %s", said)
	}
}

// openDirectory returns a directory that every user can reach; those of t.TempDir are of one.
func openDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "open-")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(scratch, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}
