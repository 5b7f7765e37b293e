package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// rcCommon stands for the rc.common of OpenWrt: it prints what the script tells procd.
const rcCommon = `#!/bin/sh
script="$1"
action="$2"
procd_open_instance() { echo open; }
procd_close_instance() { echo close; }
procd_set_param() { echo "$*"; }
. "$script"
case "$action" in
	start) start_service ;;
	enabled) echo "$START $STOP $USE_PROCD" ;;
esac
`

// functions stands for functions.sh of OpenWrt: default_postinst makes the user of Require-User.
const functions = `default_postinst() {
	echo "default_postinst $1"
	useradd --system --user-group --no-create-home sensegate
}
default_prerm() { echo "default_prerm $1"; }
`

// TestOpenWrtPackageRuns unpacks the package in a root, runs its scripts with stubs of OpenWrt's, and
// starts what the script for procd says.
func TestOpenWrtPackageRuns(t *testing.T) {
	t.Parallel()
	r, root := built(t), freshRoot(t)
	control, data := ipkParts(t, r.artefact(t, "*_x86_64.ipk"))
	unpack(t, data, root)
	unpack(t, control, filepath.Join(root, "usr/lib/opkg/info"))
	write(t, filepath.Join(root, "lib/functions.sh"), functions, 0o644)
	write(t, filepath.Join(root, "etc/rc.common"), rcCommon, 0o755)

	is(t, "postinst", in(t, root, "/usr/lib/opkg/info/postinst"), "default_postinst /usr/lib/opkg/info/postinst\n")
	is(t, "order", in(t, root, "/etc/init.d/sensegate", "enabled"), "95 10 1\n")
	is(t, "told to procd", in(t, root, "/etc/init.d/sensegate", "start"), `open
command /usr/bin/sensegate serve -config /etc/sensegate/config.yaml
env SENSEGATE_STATE_DIR=/etc/sensegate/data GOTRACEBACK=crash
user sensegate
group sensegate
no_new_privs 1
limits nofile=16384 16384 core=0 0
respawn 3600 5 0
term_timeout 20
reload_signal HUP
stdout 1
stderr 1
close
`)
	is(t, "state directory", in(t, root, "stat", "-c", "%a %U:%G", "/etc/sensegate/data"), "700 sensegate:sensegate\n")
	script := `ip link set lo up && mount -t proc proc "$1/proc" && root="$1" && shift && exec chroot --userspec=sensegate:sensegate "$root" "$@"`
	service := supervise(t, exec.Command("unshare", "--net", "--mount", "sh", "-ec", script, "sh", root, "env", "NOTIFY_SOCKET=/run/notify",
		"SENSEGATE_STATE_DIR=/etc/sensegate/data", "/usr/bin/sensegate", "serve", "-config", "/etc/sensegate/config.yaml"), filepath.Join(root, "run/notify"))
	service.stop(t, syscall.SIGTERM)
	in(t, root, "test", "-s", "/etc/sensegate/data/sensegate.db")

	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dir: \"/mnt/sda1/sensegate\" # a disk\n", 0o644)
	if told := in(t, root, "/etc/init.d/sensegate", "start"); !strings.Contains(told, "SENSEGATE_STATE_DIR=/mnt/sda1/sensegate GOTRACEBACK") {
		t.Errorf("with another state directory procd is told %s", told)
	}
	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dir: '/mnt/my disk/x'\n", 0o644)
	if told := in(t, root, "/etc/init.d/sensegate", "start"); !strings.Contains(told, "SENSEGATE_STATE_DIR=/mnt/my disk/x GOTRACEBACK") {
		t.Errorf("with a state directory in single quotes procd is told %s", told)
	}
	in(t, root, "test", "-d", "/mnt/my disk/x")
	write(t, filepath.Join(root, "etc/sensegate/config.yaml"), "state_dri: /x\n", 0o644)
	if told := in(t, root, "sh", "-c", "/etc/init.d/sensegate start 2>&1 || true"); !strings.Contains(told, "state_dri") || strings.Contains(told, "open") {
		t.Errorf("with a mistake in the configuration procd is told %s", told)
	}
	is(t, "prerm", in(t, root, "/usr/lib/opkg/info/prerm"), "default_prerm /usr/lib/opkg/info/prerm\n")
}
