package home_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

func TestInstallerIsOneBetweenTwoTimes(t *testing.T) {
	t.Parallel()
	h := home.Home{}
	if err := h.AddInstaller(home.Installer{User: 7, By: 1, Since: 1000, Until: 2000}); err != nil {
		t.Fatal(err)
	}
	for now, want := range map[motion.Time]bool{999: false, 1000: true, 1999: true, 2000: false, 9999: false} {
		if _, got := h.InstallerOf(7, now); got != want {
			t.Errorf("at %v: %t, want %t", now, got, want)
		}
	}
	if _, got := h.InstallerOf(8, 1500); got {
		t.Error("somebody else is one")
	}
}

func TestHomeHasSoManyInstallers(t *testing.T) {
	t.Parallel()
	h := home.Home{}
	for user := range home.UserID(home.MaxInstallers) {
		if err := h.AddInstaller(home.Installer{User: user, Since: 1000, Until: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	before := h.Installers
	if err := h.AddInstaller(home.Installer{User: 99, Since: 1500, Until: 3000}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("one more: %v", err)
	}
	if err := h.AddInstaller(home.Installer{User: 3, Since: 1500, Until: 1600}); err != nil {
		t.Errorf("one of them again: %v", err)
	}
	if i, _ := h.InstallerOf(3, 1550); i.Until != 1600 || len(h.Installers) != home.MaxInstallers {
		t.Errorf("let in anew until %v, of %d", i.Until, len(h.Installers))
	}
	if before[3].User != 3 || before[3].Until != 2000 {
		t.Error("the record before was changed in place")
	}
	if err := h.AddInstaller(home.Installer{User: 99, Since: 2000, Until: 3000}); err != nil || len(h.Installers) != 1 {
		t.Errorf("when their time is over: %v, %d", err, len(h.Installers))
	}
}

func TestHomeForgetsAnInstallerAndWhoLetThemIn(t *testing.T) {
	t.Parallel()
	h := home.Home{Installers: []home.Installer{{User: 7, By: 1, Until: 9}, {User: 8, By: 2, Until: 9}}}
	if !h.Forget(7) || len(h.Installers) != 1 || h.Forget(7) {
		t.Errorf("without 7: %+v", h.Installers)
	}
	if !h.Forget(2) || h.Installers[0].By != 0 || h.Installers[0].User != 8 {
		t.Errorf("without 2: %+v", h.Installers)
	}
}
