package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/ipk"
)

const documents = "/usr/share/doc/sensegate/"

// writePackages writes the packages that there are for a binary's target.
func writePackages(s source, b binary, out string) error {
	var errs []error
	if b.deb != "" {
		errs = append(errs, writePackage(deb.Default, debian(s, b), out))
	}
	for _, arch := range b.openwrt {
		errs = append(errs, writePackage(ipk.Default, openwrt(s, b, arch), out))
	}
	return errors.Join(errs...)
}

// writePackage writes one package, under the name that its system gives it.
func writePackage(to nfpm.Packager, info *nfpm.Info, out string) error {
	info = nfpm.WithDefaults(info)
	name := to.ConventionalFileName(info)
	var packed bytes.Buffer
	if err := to.Package(info, &packed); err != nil {
		return fmt.Errorf("package %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(out, name), packed.Bytes(), 0o644)
}

// common is what packages of all systems say.
func common(s source, b binary) *nfpm.Info {
	return &nfpm.Info{
		Name: "sensegate", Platform: "linux", Version: s.version, MTime: s.date, DisableGlobbing: true,
		Maintainer: "sensegate <sensegate@localhost>", License: "Apache-2.0",
		Description: "Motion sensing from Wi-Fi signals\nDecides from the channel state of Wi-Fi links whether and where there is\nmotion in a home. MQTT broker, database, web app and interface in one program.",
		Overridables: nfpm.Overridables{
			Umask:    0o022,
			Contents: files.Contents{content(b.path, "/usr/bin/sensegate", "", 0o755, s)},
		},
	}
}

// content is a file of a package, of root.
func content(from, to, kind string, mode os.FileMode, s source) *files.Content {
	return &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: s.date}}
}

func debian(s source, b binary) *nfpm.Info {
	info := common(s, b)
	info.Arch, info.Deb.Arch = b.deb, b.deb
	info.Section, info.Priority = "net", "optional"
	info.Depends = []string{"init-system-helpers", "passwd"}
	info.Recommends = []string{"ca-certificates"}
	info.Deb.Compression = "xz"
	info.Scripts = nfpm.Scripts{PostInstall: s.packaged("debian/postinst"), PreRemove: s.packaged("debian/prerm"), PostRemove: s.packaged("debian/postrm")}
	info.Contents = append(info.Contents,
		content(s.packaged("debian/config.yaml"), "/etc/sensegate/config.yaml", files.TypeConfigNoReplace, 0o640, s),
		content(s.packaged("sensegate.service"), "/usr/lib/systemd/system/sensegate.service", "", 0o644, s),
		content(s.packaged("debian/copyright"), documents+"copyright", "", 0o644, s),
		content(s.packaged("privileged-ports.conf"), documents+"privileged-ports.conf", "", 0o644, s),
		content(s.file("config.example.yaml"), documents+"config.example.yaml", "", 0o644, s),
		content(s.file("docs/install.md"), documents+"install.md", "", 0o644, s),
		content(s.file("docs/operation.md"), documents+"operation.md", "", 0o644, s),
		content(s.file("docs/licenses.md"), documents+"licenses.md", "", 0o644, s))
	return info
}

func openwrt(s source, b binary, arch string) *nfpm.Info {
	info := common(s, b)
	info.Arch, info.IPK.Arch = arch, arch
	info.Section = "net"
	// The user is made at installation (add_group_and_user of OpenWrt).
	info.IPK.Fields = map[string]string{"Require-User": "sensegate:sensegate:dialout"}
	info.Recommends = []string{"ca-bundle"}
	info.Scripts = nfpm.Scripts{PostInstall: s.packaged("openwrt/postinst"), PreRemove: s.packaged("openwrt/prerm")}
	info.Contents = append(info.Contents,
		content(s.packaged("openwrt/config.yaml"), "/etc/sensegate/config.yaml", files.TypeConfigNoReplace, 0o644, s),
		content(s.packaged("openwrt/sensegate.init"), "/etc/init.d/sensegate", "", 0o755, s),
		content(s.packaged("openwrt/keep"), "/lib/upgrade/keep.d/sensegate", "", 0o644, s))
	return info
}
