package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is a kind of machine, and the names that packages have for it.
type target struct {
	name    string   // in file names
	arch    string   // GOARCH
	variant string   // an environment variable that says more, such as GOARM=6
	deb     string   // architecture of Debian; "": no package
	openwrt []string // architectures of OpenWrt
	image   string   // variant in a container image, such as v6; "-": not in it
}

// targets are all machines that binaries are made for.
var targets = []target{
	{name: "amd64", arch: "amd64", variant: "GOAMD64=v1", deb: "amd64", openwrt: []string{"x86_64"}},
	{name: "arm64", arch: "arm64", variant: "GOARM64=v8.0", deb: "arm64", openwrt: []string{"aarch64_generic", "aarch64_cortex-a53"}},
	// Raspberry Pi OS calls ARMv6 armhf too.
	{name: "armv6", arch: "arm", variant: "GOARM=6", deb: "armhf", image: "v6"},
	{name: "armv7", arch: "arm", variant: "GOARM=7", openwrt: []string{"arm_cortex-a7_neon-vfpv4"}, image: "-"},
	{name: "mipsle", arch: "mipsle", variant: "GOMIPS=softfloat", openwrt: []string{"mipsel_24kc"}, image: "-"},
}

// binary is the program for a target.
type binary struct {
	target
	path string
}

// build compiles the program for a target into the directory out.
func build(s source, t target, out, publicKey string) (binary, error) {
	b := binary{t, filepath.Join(out, "sensegate-"+s.version+"-linux-"+t.name)}
	path, err := filepath.Abs(b.path)
	if err != nil {
		return b, err
	}
	flags := fmt.Sprintf("-s -w -X sensegate/api/box.version=%s -X sensegate/api/box.commit=%s -X sensegate/api/box.date=%s",
		s.version, s.commit, s.date.Format(time.RFC3339))
	if publicKey != "" {
		flags += " -X sensegate/api/update.publicKey=" + publicKey
	}
	small, err := os.ReadFile(filepath.Join(s.root, ".ci/gcflags"))
	if err != nil {
		return b, err
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", flags}, strings.Fields(string(small)), []string{"-o", path, "."})...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+t.arch, t.variant, "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return b, fmt.Errorf("build for %s: %w", t.name, err)
	}
	return b, os.Chmod(b.path, 0o755) // whatever the umask is
}
