package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/blakesmith/ar"
	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"
)

// listed describes the files of a tar as "mode owner:group name", without directories of the system.
func listed(t *testing.T, r io.Reader) (all []string, contents map[string]string) {
	t.Helper()
	contents = map[string]string{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return all, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, ".")
		contents[name] = string(content)
		if h.Typeflag != tar.TypeDir {
			all = append(all, fmt.Sprintf("%#o %s:%s %d:%d %s", h.Mode, h.Uname, h.Gname, h.Uid, h.Gid, name))
		}
	}
}

// debParts unpacks the two archives of a Debian package.
func debParts(t *testing.T, path string) (control, data io.Reader) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for archive := ar.NewReader(file); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return control, data
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		switch strings.TrimSuffix(h.Name, "/") {
		case "control.tar.gz":
			control = unzip(t, content)
		case "data.tar.xz":
			if data, err = xz.NewReader(bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func unzip(t *testing.T, content []byte) io.Reader {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDebianPackagesHold(t *testing.T) {
	t.Parallel()
	r := built(t)
	for _, arch := range []string{"amd64", "armhf"} {
		control, data := debParts(t, r.artefact(t, "sensegate_*_"+arch+".deb"))
		files, contents := listed(t, data)
		want := []string{
			"0640 root:root 0:0 /etc/sensegate/config.yaml",
			"0755 root:root 0:0 /usr/bin/sensegate",
			"0644 root:root 0:0 /usr/lib/systemd/system/sensegate.service",
			"0644 root:root 0:0 /usr/share/doc/sensegate/config.example.yaml",
			"0644 root:root 0:0 /usr/share/doc/sensegate/copyright",
			"0644 root:root 0:0 /usr/share/doc/sensegate/install.md",
			"0644 root:root 0:0 /usr/share/doc/sensegate/licenses.md",
			"0644 root:root 0:0 /usr/share/doc/sensegate/operation.md",
			"0644 root:root 0:0 /usr/share/doc/sensegate/privileged-ports.conf",
		}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arch, diff)
		}
		binary, err := os.ReadFile(r.binary(map[string]string{"amd64": "amd64", "armhf": "armv6"}[arch]))
		if err != nil {
			t.Fatal(err)
		}
		if contents["/usr/bin/sensegate"] != string(binary) {
			t.Errorf("%s has another program than the plain one", arch)
		}
		_, said := listed(t, control)
		if said["/conffiles"] != "/etc/sensegate/config.yaml\n" {
			t.Errorf("conffiles of %s: %q", arch, said["/conffiles"])
		}
		for _, line := range []string{"Package: sensegate\n", "Architecture: " + arch + "\n", "Depends: init-system-helpers, passwd\n", "Version: " + strings.Replace(r.version, "-", "~", 1) + "\n"} {
			if !strings.Contains(said["/control"], line) {
				t.Errorf("control of %s lacks %q:\n%s", arch, line, said["/control"])
			}
		}
		for _, script := range []string{"/postinst", "/prerm", "/postrm"} {
			if !strings.HasPrefix(said[script], "#!/bin/sh\nset -e\n") {
				t.Errorf("%s of %s: %q", script, arch, said[script])
			}
		}
	}
}

// ipkParts unpacks the two archives of an OpenWrt package.
func ipkParts(t *testing.T, path string) (control, data io.Reader) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, parts := listed(t, unzip(t, raw))
	return unzip(t, []byte(parts["/control.tar.gz"])), unzip(t, []byte(parts["/data.tar.gz"]))
}

func TestOpenWrtPackagesHold(t *testing.T) {
	t.Parallel()
	r := built(t)
	control, data := ipkParts(t, r.artefact(t, "*_x86_64.ipk"))
	files, _ := listed(t, data)
	want := []string{
		"0755 root:root 0:0 /etc/init.d/sensegate",
		"0644 root:root 0:0 /etc/sensegate/config.yaml",
		"0644 root:root 0:0 /lib/upgrade/keep.d/sensegate",
		"0755 root:root 0:0 /usr/bin/sensegate",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, said := listed(t, control)
	if said["/conffiles"] != "/etc/sensegate/config.yaml\n" {
		t.Errorf("conffiles: %q", said["/conffiles"])
	}
	for _, line := range []string{"Package: sensegate\n", "Architecture: x86_64\n", "Require-User: sensegate:sensegate:dialout\n"} {
		if !strings.Contains(said["/control"], line) {
			t.Errorf("control lacks %q:\n%s", line, said["/control"])
		}
	}
}

func TestArchivesHold(t *testing.T) {
	t.Parallel()
	r := built(t)
	raw, err := os.ReadFile(r.binary("armv6") + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := listed(t, unzip(t, raw))
	var want []string
	for _, name := range []string{"0644 LICENSE", "0644 README.md", "0644 config.example.yaml", "0644 config.yaml", "0644 install.md",
		"0644 licenses.md", "0644 operation.md", "0644 privileged-ports.conf", "0755 sensegate", "0644 sensegate.service"} {
		mode, name, _ := strings.Cut(name, " ")
		want = append(want, mode+" : 0:0 sensegate-"+r.version+"-linux-armv6/"+name)
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
