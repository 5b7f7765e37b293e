package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goreleaser/nfpm/v2/deb"
)

// stubSystemd lets scripts of packages find systemd in a root. It returns what they asked of it since
// the last call, without daemon-reload, which comes as often as they like.
func stubSystemd(t *testing.T, root string) (asked func() string) {
	t.Helper()
	notes := filepath.Join(root, "asked")
	for _, name := range []string{"systemctl", "deb-systemd-invoke"} {
		write(t, filepath.Join(root, "usr/local/bin", name), "#!/bin/sh\necho \""+name+" $*\" >>/asked\n", 0o755)
	}
	if err := os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() string {
		raw, err := os.ReadFile(notes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.RemoveAll(notes); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(raw), "systemctl daemon-reload\n", "")
	}
}

func is(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// newer packs the same program as a version that is higher than any.
func newer(t *testing.T, r released) string {
	t.Helper()
	r.version, r.out = "999.0.0", t.TempDir()
	b := binary{chosen()[0], filepath.Join(filepath.Dir(r.out), "sensegate")}
	put(t, built(t).binary("amd64"), "/", b.path)
	if err := writePackage(deb.Default, debian(r.source, b), r.out); err != nil {
		t.Fatal(err)
	}
	return r.artefact(t, "*.deb")
}

// TestDebianPackageLives installs, runs, upgrades, removes and purges the package in a fresh root.
func TestDebianPackageLives(t *testing.T) {
	t.Parallel()
	r, root := built(t), freshRoot(t)
	put(t, r.artefact(t, "*_amd64.deb"), root, "one.deb")
	put(t, newer(t, r), root, "two.deb")
	systemd := stubSystemd(t, root)

	began := time.Now()
	in(t, root, "dpkg", "-i", "/one.deb")
	service := startUnit(t, root)
	took := time.Since(began)
	t.Logf("from dpkg -i to READY=1: %.1f s", took.Seconds())
	if took > 10*time.Second {
		t.Errorf("from dpkg -i to READY=1: %s, want at most 10 s", took)
	}
	is(t, "asked at installation", systemd(), "deb-systemd-invoke start sensegate.service\n")
	is(t, "configuration", in(t, root, "stat", "-c", "%a %U:%G", "/etc/sensegate/config.yaml"), "640 root:sensegate\n")
	is(t, "state directory", in(t, root, "stat", "-c", "%a %U:%G", "/var/lib/sensegate"), "700 sensegate:sensegate\n")
	is(t, "user", in(t, root, "sh", "-c", "getent passwd sensegate | cut -d: -f6,7"), "/var/lib/sensegate:/usr/sbin/nologin\n")
	in(t, root, "test", "-L", "/etc/systemd/system/multi-user.target.wants/sensegate.service")
	if said := in(t, root, "sensegate", "status"); !strings.Contains(said, "ready") {
		t.Errorf("status as root: %s", said)
	}
	in(t, root, "dpkg", "--verify", "sensegate")

	in(t, root, "runuser", "-u", "sensegate", "--", "sensegate", "backup", "-o", "/var/lib/sensegate/home.backup")

	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dir: /var/lib/sensegate\nhttp: {listen: \":8090\"}\n", 0o640)
	before := in(t, root, "sha256sum", "/etc/sensegate/config.yaml")
	in(t, root, "dpkg", "-i", "/two.deb")
	is(t, "asked at the upgrade", systemd(), "deb-systemd-invoke restart sensegate.service\n")
	if err := service.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the former version does not run during an upgrade: %v", err)
	}
	is(t, "changed configuration after the upgrade", in(t, root, "sha256sum", "/etc/sensegate/config.yaml"), before)
	is(t, "its group", in(t, root, "stat", "-c", "%a %U:%G", "/etc/sensegate/config.yaml"), "640 root:sensegate\n")
	service.stop(t, syscall.SIGTERM)
	in(t, root, "runuser", "-u", "sensegate", "--", "sensegate", "restore", "/var/lib/sensegate/home.backup")
	service = startUnit(t, root)
	if said := service.stop(t, syscall.SIGTERM); !strings.Contains(said, ":8090") {
		t.Errorf("it does not listen where the changed configuration says: %s", said)
	}

	in(t, root, "dpkg", "-r", "sensegate")
	is(t, "asked at the removal", systemd(), "deb-systemd-invoke stop sensegate.service\n")
	in(t, root, "test", "-f", "/etc/sensegate/config.yaml")
	in(t, root, "sh", "-c", "! test -e /usr/bin/sensegate")
	if said := in(t, root, "dpkg", "-P", "sensegate"); !strings.Contains(said, "rm -r '/var/lib/sensegate'") {
		t.Errorf("purge does not say where the data is: %s", said)
	}
	in(t, root, "sh", "-c", "! test -e /etc/sensegate && ! test -e /etc/systemd/system/multi-user.target.wants/sensegate.service")
	in(t, root, "test", "-s", "/var/lib/sensegate/sensegate.db")

	in(t, root, "dpkg", "-i", "/two.deb")
	if said := startUnit(t, root).stop(t, syscall.SIGTERM); strings.Contains(said, "starts empty") {
		t.Errorf("the data is not found again: %s", said)
	}
	write(t, filepath.Join(root, "etc/sensegate/purge-data"), "", 0o644)
	in(t, root, "dpkg", "-P", "sensegate")
	in(t, root, "sh", "-c", "! test -e /var/lib/sensegate && ! test -e /etc/sensegate && ! getent passwd sensegate")

	in(t, root, "dpkg", "-i", "/two.deb")
	in(t, root, "install", "-d", "-m", "0700", "-o", "sensegate", "/srv/home data")
	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dir: '/srv/home data' # a disk\n", 0o640)
	in(t, root, "sh", "-c", "touch '/srv/home data/sensegate.db'; chown sensegate '/srv/home data/sensegate.db'") // as after a start
	write(t, filepath.Join(root, "srv/home data/signing.json"), "", 0o600)
	doctor := "cd / && runuser -u sensegate -- sensegate doctor 2>&1 || true"
	if said := in(t, root, "sh", "-c", doctor); !strings.Contains(said, "cannot write /srv/home data/signing.json, which belongs to root. As root: chown -R sensegate") {
		t.Errorf("of root's file in the state directory doctor says: %s", said)
	}
	in(t, root, "dpkg", "-r", "sensegate")
	if said := in(t, root, "dpkg", "-P", "sensegate"); !strings.Contains(said, "rm -r '/srv/home data'") {
		t.Errorf("purge does not say where the data of another state directory is: %s", said)
	}
	in(t, root, "dpkg", "-i", "/two.deb")
	in(t, root, "chown", "sensegate", "/srv/home data")
	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dir: '/srv/home data'\n", 0o640)
	write(t, filepath.Join(root, "etc/sensegate/purge-data"), "", 0o644)
	in(t, root, "dpkg", "-P", "sensegate")
	in(t, root, "sh", "-c", "! test -e '/srv/home data' && test -d /srv")
}

// TestTheBareProgramIsInstalledAsDocumented runs the commands of docs/install.md in a fresh root.
func TestTheBareProgramIsInstalledAsDocumented(t *testing.T) {
	t.Parallel()
	r, root := built(t), freshRoot(t)
	document, err := os.ReadFile(r.file("docs/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(document), "## The bare program")
	_, block, _ := strings.Cut(chapter, "```\n")
	commands, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("no commands in the chapter on the bare program")
	}
	raw, err := os.ReadFile(r.binary("amd64") + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, unzip(t, raw), filepath.Join(root, "srv"))
	systemd := stubSystemd(t, root)
	in(t, root, "sh", "-ec", "cd /srv/sensegate-*\n"+commands)
	is(t, "asked of systemd", systemd(), "systemctl enable --now sensegate\n")
	in(t, root, "install", "-d", "-m", "0700", "-o", "sensegate", "-g", "sensegate", "/var/lib/sensegate") // StateDirectory=
	startUnit(t, root).stop(t, syscall.SIGTERM)
}

// TestDebianPackageInAnImage installs it where no systemd runs, as builders of images do.
func TestDebianPackageInAnImage(t *testing.T) {
	t.Parallel()
	r, root := built(t), freshRoot(t)
	put(t, r.artefact(t, "*_amd64.deb"), root, "one.deb")
	in(t, root, "dpkg", "-i", "/one.deb")
	in(t, root, "test", "-L", "/etc/systemd/system/multi-user.target.wants/sensegate.service")
	in(t, root, "sh", "-c", "! test -e /var/lib/sensegate/sensegate.db")
	in(t, root, "env", "SENSEGATE_PURGE_DATA=yes", "dpkg", "-P", "sensegate")
	in(t, root, "sh", "-c", "! test -e /var/lib/sensegate")
}
