package webtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sensegate/api/appliance/box"
)

// signInAt signs in on the page that is shown.
func (b *browser) signInAt(email, password string) {
	b.t.Helper()
	b.enter("#email", email)
	b.enter("#password", password)
	b.do(chromedp.Click(chromedp.CSS("form button.main")))
}

// TestAdministratorLooksAfterTheRealBox: every part of it says something, a key is made and is in the
// audit log, and a backup that was downloaded at the terminal comes back in two steps, after which what
// was made since is gone. No terminal is needed once there is an administrator.
func TestAdministratorLooksAfterTheRealBox(t *testing.T) {
	t.Parallel()
	b, p := newBox(t)
	p.again() // at ports that it keeps when it starts itself anew
	b.tolerate("401 (Unauthorized)", "403 (Forbidden)")
	word := filepath.Join(p.dir, "word")
	if err := os.WriteFile(word, []byte(secretWord+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(words ...string) string {
		t.Helper()
		return box.Administer(t, p.line[0], p.dir, words...)
	}
	run("user", "create", "jo@example.com", "-password-file", word)
	b.do(chromedp.Navigate(p.page("127.0.0.1") + "/#/box"))
	b.signInAt("jo@example.com", secretWord)
	b.waitFor(has("You belong to no home"))
	run("user", "admin", "jo@example.com")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".bx h1")))
	for _, address := range boxParts {
		read[bool](b, `(location.hash = "`+address+`") !== ""`)
		b.settled(address)
		b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1")))
		if wrong := read[string](b, `(document.querySelector("main").innerText.match(/.*(undefined|NaN|Invalid|\[object|bx[A-Z]\w+).*/) ?? [""])[0]`); wrong != "" {
			t.Errorf("%s says %q", address, wrong)
		}
		b.fitsNarrow("the real " + address)
	}
	backup := filepath.Join(p.dir, "copy.backup")
	run("backup", "-o", backup)

	b.do(chromedp.Navigate(p.page("127.0.0.1") + "/#/box/keys"))
	b.settled("#/box/keys")
	read[bool](b, `[...document.querySelectorAll("details")].forEach((e) => (e.open = true)) === undefined`)
	b.enter(`input[name='name']`, "laptop")
	b.pressShown("Make")
	b.waitFor(secretShown + `.includes("sg_")`)
	read[bool](b, `(location.hash = "#/box/audit") !== ""`)
	b.waitFor(has("API key made:"))
	if log := run("audit"); !strings.Contains(log, "key made") || !strings.Contains(log, "jo@example.com") {
		t.Errorf("the terminal's audit log:\n%s", log)
	}

	read[bool](b, `(location.hash = "#/box/backup") !== ""`)
	b.settled("#/box/backup")
	b.do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{backup}))
	b.pressShown("Send and check")
	b.waitFor(has("This backup is whole. Nothing was changed yet."))
	b.pressShown("Put it in place")
	b.inDialog("backup") // there is no home whose name could be typed
	b.do(chromedp.WaitVisible(chromedp.CSS("#password")))
	b.signInAt("jo@example.com", secretWord)
	b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1")))
	read[bool](b, `(location.hash = "#/box/audit") !== ""`)
	b.waitFor(has("Backup put in place"))
	if keys := run("apikey", "list"); strings.Contains(keys, "laptop") {
		t.Errorf("the key of after the backup is there:\n%s", keys)
	}
}

// TestSimulatedHomeIsRecorded in the demo, whose guest lives there and looks after the box: frames come, a
// tap is known to the box, the archive is whole, and the household is told.
func TestSimulatedHomeIsRecorded(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("net::")
	b.beforePages(`{
		globalThis.kept = [];
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { void blob.arrayBuffer().then((b) => kept.push(new TextDecoder("latin1").decode(b.slice(0, 4)), b.byteLength > 1000)); return make(blob); };
		HTMLAnchorElement.prototype.click = () => {};
	}`)
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	read[bool](b, `(location.hash = "#/box/record") !== ""`)
	b.waitFor(has("No recordings"))
	b.pressAny("Record")
	b.waitFor(has("What happens now?"))
	b.pressAny("Moving")
	b.waitFor(`document.querySelector("[aria-pressed=true]")?.textContent === "Moving"`)
	b.waitFor(`/[1-9]\d* frames/.test(document.querySelector(".bx-value").textContent)`)
	b.pressAny("Stop")
	b.waitFor(has("One recording"))
	b.waitFor(`document.querySelector(".bx-list button").click() === undefined`)
	b.waitFor(`kept.join() === "PK\x03\x04,true" && ` + has(".zip is saved."))
	read[bool](b, `(location.hash = "#/inbox") !== ""`)
	b.waitFor(has("records the raw signal of the links"))
}
