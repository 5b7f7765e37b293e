package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// guarded wants the password before a change of the box, as the appliance does, and keeps what is
// sent: each as METHOD, path and body. lapse() makes it want the password again.
const guarded = `{
	const ask = globalThis.fetch, refuse = (code) => Response.json({status: 403, code, detail: "why"}, {status: 403});
	let shown = false;
	globalThis.sent = [];
	globalThis.lapse = () => { shown = false; };
	globalThis.fetch = async (path, given = {}) => {
		if (path === "/web/v1/step-up") {
			shown = JSON.parse(given.body).password === "right";
			return shown ? new Response(null, {status: 204}) : refuse("wrong_password");
		}
		if (path.startsWith("/web/v1/admin/") && (given.method !== "GET" || path.includes("/mails/"))) {
			sent.push(given.method + " " + path.slice(14) + " " + (given.body ?? ""));
			if (!shown) return refuse("step_up");
			if (given.method === "DELETE") return new Response(null, {status: 204});
			if (globalThis.answerTo?.[path]) return globalThis.answerTo[path]();
		}
		return ask(path, given);
	};
}`

// guard opens a part of the box that wants the password first.
func guard(t *testing.T, hash string, other answers, scripts ...string) *browser {
	t.Helper()
	b := open(t, 390, 844)
	b.signedIn()
	for _, script := range append([]string{guarded}, scripts...) {
		b.beforePages(script)
	}
	b.do(chromedp.Navigate(fixed(t, boxed(other))+"/"+hash), chromedp.WaitVisible(chromedp.CSS(".bx h1")))
	b.settled(hash)
	return b
}

// inDialog types into the dialog that is open and presses its main button.
func (b *browser) inDialog(text string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog.ask")))
	if text != "" {
		b.enter("dialog.ask input:not(.hidden)", text)
	}
	b.waitFor(`!document.querySelector("dialog.ask button.main").disabled`)
	b.do(chromedp.Click(chromedp.CSS("dialog.ask button.main")))
}

// wantSent: what was sent, in this order.
func (b *browser) wantSent(want ...string) {
	b.t.Helper()
	if got := read[[]string](b, "sent"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const secretShown = `[...document.querySelectorAll(".bx-once input")].map((e) => e.value).join(" ")`

// TestStepUpLosesNothingThatWasTyped: the password is asked for in the middle of a form, which stays
// as it was filled in when it is not shown, and is sent when it is. What was made is shown once.
func TestStepUpLosesNothingThatWasTyped(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/keys", nil)
	b.waitFor(`document.querySelector(".bx-new").open = true`)
	b.fill("Name", "laptop")
	b.fill("Ends after", "30")
	b.pressAny("Make")
	b.inDialog("wrong")
	b.waitFor(has("This is not your password."))
	b.do(chromedp.Click(chromedp.CSS("dialog.ask button[type=button]")))
	b.waitFor(has("Nothing was done: this needs your password."))
	if got := read[string](b, `[...document.querySelectorAll(".bx-new :is(input, select)")].map((e) => e.value).join(" ")`); got != "laptop 17 30 on" {
		t.Errorf("the form has %q", got)
	}
	b.pressAny("Make")
	b.inDialog("right")
	b.waitFor(secretShown + `.startsWith("sgk_")`)
	body := `POST keys {"name":"laptop","write":false,"network_id":17,"all_networks":false,"days":30}`
	b.wantSent(body, body, body)
	b.pictures("box-key-made")
	b.fitsNarrow("a key that was made")
	b.pressAny("I have it")
	b.waitFor(secretShown + ` === ""`)

	read[bool](b, `lapse() === undefined`)
	b.waitFor(row("grafana") + `.querySelector("button").click() === undefined`)
	b.inDialog("") // revoke it?
	b.inDialog("right")
	b.waitFor(`sent.at(-1) === "DELETE keys/2 " && document.querySelector("dialog") === null`)
}

// TestAccountIsDeletedByItsAddress: deleting wants the address typed, and tells of homes that go too.
// The last administrator stays one.
func TestAccountIsDeletedByItsAddress(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/accounts", answers{"PUT " + admin + "accounts/10/administrator": {status: 409, code: "last_administrator"}})
	b.tolerate("status of 409")
	read[bool](b, `[...document.querySelectorAll(".menu")].forEach((e) => (e.open = true)) === undefined`)
	b.waitFor(row("sam@example.com") + `.querySelector("input[type=checkbox]").click() === undefined`)
	b.waitFor(row("sam@example.com") + `.querySelector("button.bad").click() === undefined`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog.ask")))
	b.waitFor(has("Homes that nobody else is in go too."))
	b.enter("dialog.ask input:not(.hidden)", "jo@example.com")
	if !read[bool](b, `document.querySelector("dialog.ask button.main").disabled`) {
		t.Error("another address deletes the account")
	}
	b.inDialog("sam@example.com")
	b.inDialog("right")
	b.waitFor(`sent.at(-1) === 'DELETE accounts/10?networks=true ' && sent.length === 2`)
	b.waitFor(`((e) => !e.disabled && e.click() === undefined)(` + row("sam@example.com") + `.querySelectorAll("button")[1])`)
	b.waitFor(has("That is you: only another administrator can bring you back."))
	b.inDialog("")
	b.waitFor(has("Nobody else looks after the box."))
	b.waitFor(`((e) => !e.disabled && e.click() === undefined)(` + row("jo@example.com") + `.querySelector("button"))`)
	b.inDialog("")
	b.waitFor(secretShown + ` === "jo@example.com Xk3v9QpLm2Rt8wZa"`)
	b.pictures("box-password")
}

// keepsFiles keeps the names and sizes of files that the page gives to the browser, and answers the
// request for a backup: whole, or broken off.
const keepsFiles = `{
	globalThis.kept = [];
	const make = URL.createObjectURL;
	URL.createObjectURL = (blob) => { kept.push(blob.size); return make(blob); };
	HTMLAnchorElement.prototype.click = function () { kept.push(this.download); };
	globalThis.answerTo = {"/web/v1/admin/backup": () => new Response(new ReadableStream({
		start(stream) {
			stream.enqueue(new Uint8Array(1000));
			if (globalThis.breaks) stream.error(new Error("broken")); else stream.close();
		},
	}), {headers: {"Content-Disposition": 'attachment; filename="sensegate-2025-11-24.db.age"'}})};
}`

// TestBackupIsDownloadedUnderAPassphrase: it is typed twice; without one, what that means is typed.
// What breaks off is not kept.
func TestBackupIsDownloadedUnderAPassphrase(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/backup", nil, keepsFiles)
	b.fill("Passphrase", "seven unlike words in a row")
	b.fill("The same again", "seven unlike words in a roe")
	b.pressAny("Download")
	b.waitFor(has("The two are not the same."))
	b.fill("The same again", "seven unlike words in a row")
	read[bool](b, `(globalThis.breaks = true)`)
	b.pressAny("Download")
	b.inDialog("right")
	b.waitFor(has("The appliance does not answer."))
	b.waitFor(`kept.length === 0`)
	read[bool](b, `(globalThis.breaks = false) || true`)
	b.pressAny("Download") // what was typed is still there
	b.waitFor(`kept.join() === "1000,sensegate-2025-11-24.db.age"`)
	b.waitFor(has("sensegate-2025-11-24.db.age is saved.") + ` && document.querySelector(".bx input[type=password]").value === ""`)
	body := `POST backup {"passphrase":"seven unlike words in a row"}`
	b.wantSent(body, body, body)
	b.pressAny("Download without a passphrase")
	b.inDialog("anybody can read it")
	b.waitFor(`sent.at(-1) === 'POST backup {"plain":true}'`)
}

func TestSupportFileIsDownloaded(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/log", nil, strings.ReplaceAll(strings.ReplaceAll(keepsFiles, "admin/backup", "admin/support"), "sensegate-2025-11-24.db.age", "sensegate-support-20251124.zip"))
	b.pressAny("Download")
	b.inDialog("right")
	b.waitFor(`kept.join() === "1000,sensegate-support-20251124.zip"`)
	b.wantSent("POST support {}", "POST support {}")
}

// restores plays a backup that is sent: from then on it stands to be put in place, and once it is put
// there, the appliance is away until back is true.
var restores = fmt.Sprintf(`{
	const ask = globalThis.fetch, send = XMLHttpRequest.prototype.send;
	let staged = null, applied = false;
	globalThis.back = false;
	XMLHttpRequest.prototype.send = function (form) {
		globalThis.form = [...form.keys()].join() + " " + form.get("passphrase");
		staged = %s;
		send.call(this, form);
	};
	globalThis.fetch = async (path, given = {}) => {
		if (applied && !back) throw new TypeError("away");
		if (path === "/web/v1/admin/restore/apply") { applied = true; return new Response(null, {status: 204}); }
		if (path === "/web/v1/admin/restore" && given.method === "DELETE") { staged = null; return new Response(null, {status: 204}); }
		if (path === "/web/v1/admin/restore") return Response.json({staged: applied ? null : staged, last: applied ? {at: 1764000000, by: "sam@example.com", ok: !globalThis.fails, text: "the disk was full"} : null});
		return ask(path, given);
	};
}`, `{installed_at: 1763308800, made_at: 1763946600, size: 48200000, networks: 1, users: 3, homes: ["Home"], owners: ["sam@example.com"], uploaded_at: 1763999940, by: "sam@example.com"}`)

// sendBackup sends a file to be checked.
func (b *browser) sendBackup() {
	b.t.Helper()
	b.waitFor(`(() => {
		const field = document.querySelector("input[type=file]"), files = new DataTransfer();
		if (!field) return false;
		files.items.add(new File(["backup"], "home.db.age"));
		field.files = files.files;
		return true;
	})()`)
	b.fill("Its passphrase, if it has one", "seven unlike words")
	b.pressAny("Send and check")
	b.inDialog("right")
}

// TestBackupIsPutInPlaceInTwoSteps: it is sent, seen, dropped, sent again and, once the home's name
// was typed, put in place; when the box is back, somebody signs in.
func TestBackupIsPutInPlaceInTwoSteps(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/backup", nil, restores)
	send := func() {
		t.Helper()
		b.sendBackup()
		b.waitFor(has("This backup is whole. Nothing was changed yet."))
	}
	send()
	if got := read[string](b, "form"); got != "passphrase,file seven unlike words" {
		t.Errorf("the form has %q", got)
	}
	b.waitFor(has("is lost, and all are signed out."))
	b.pressAny("Cancel, and delete the file")
	b.waitFor(`document.querySelector("input[type=file]") !== null`)
	send()
	b.pressAny("Put it in place")
	b.inDialog("Home")
	b.waitFor(has("The box starts again with the backup."))
	b.pictures("box-restoring")
	read[bool](b, `(globalThis.back = true)`)
	b.do(chromedp.WaitVisible(chromedp.CSS("#password")))
	if proof := read[string](b, `String(sessionStorage.getItem("sensegate-proof"))`); proof != "null" {
		t.Errorf("the session goes on: %s", proof)
	}
}

// TestBackupThatCannotBePutInPlaceChangesNothing: the outcome is told, and the session goes on. What
// is refused says why, and the passphrase that was typed stays.
func TestBackupThatCannotBePutInPlaceChangesNothing(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/backup", answers{"POST " + admin + "restore": {status: 422, code: "passphrase"}}, restores)
	b.tolerate("status of 422")
	b.sendBackup()
	b.waitFor(has("The passphrase is wrong, or is missing.") + ` && !document.querySelector("form[hidden]")`)
	if typed := read[string](b, `document.querySelector("input[name=passphrase]").value`); typed != "seven unlike words" {
		t.Errorf("the passphrase is %q", typed)
	}
	read[bool](b, `(globalThis.fails = true)`)
	b.goTo("#/box", "2 things need you")
	b.goTo("#/box/backup", "Last backup 15 hours ago") // it is there, whatever was said of it
	b.pressAny("Put it in place")
	b.inDialog("Home")
	b.waitFor(has("The box starts again with the backup."))
	read[bool](b, `(globalThis.back = true)`)
	b.waitFor(has("failed: all is as before. the disk was full"))
}

// TestMailIsOpenedForThePassword: its link is shown for another phone once the password was shown.
func TestMailIsOpenedForThePassword(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/mails", nil)
	b.waitFor(row("jo@example.com") + `.querySelector("button").click() === undefined`)
	b.inDialog("right")
	b.do(chromedp.WaitVisible(chromedp.CSS(".bx-letter .qr")))
	b.waitFor(`document.querySelector(".bx-letter input").value.endsWith("/reset#token=8n6kA1oDgQ2mB5tZ0yWcXfRjUeHsLpVq")`)
	b.isAccessible("an open mail")
	b.fitsNarrow("an open mail")
	b.pictures("box-mail")
	b.waitFor(row("jo@example.com") + `.querySelector("button[aria-expanded]").click() === undefined`)
	b.waitFor(`document.querySelector(".bx-letter") === null`)
}

// TestSetupCodeIsForAPhone: a code is made, shown once, as a QR code too.
func TestSetupCodeIsForAPhone(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/code", nil)
	b.pressAny("Make a code")
	b.inDialog("right")
	b.do(chromedp.WaitVisible(chromedp.CSS(".bx-once .qr")))
	b.waitFor(`document.querySelector(".bx-once .code").textContent === "7K2M-Q9XA-04TZ" && ` + secretShown + `.endsWith("/#setup=7K2M-Q9XA-04TZ")`)
	b.isAccessible("a setup code")
	b.fitsNarrow("a setup code")
	b.pictures("box-code-made")
}

// TestSecureConnectionIsTested: what is not well says why, and each system has its steps.
func TestSecureConnectionIsTested(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/secure", nil)
	for _, system := range []string{"Windows", "macOS", "iPhone, iPad", "Android", "Linux, Firefox"} {
		b.pressAny(system)
		b.waitFor(`document.querySelectorAll("ol.steps li").length === 3`)
	}
	b.waitFor(`document.querySelector(".bx-print").textContent.trim().split(" ").length === 16`)
	b.pressAny("Test")
	b.inDialog("right")
	b.waitFor(`document.querySelectorAll(".bx-checks .bx-ok").length === 4 && ` + has("gateway.local is missing"))
	b.isAccessible("a self-test")
	b.pictures("box-tested")
}

// TestSettingsAreFound: by key, value and variable, and those that were set.
func TestSettingsAreFound(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/settings", nil)
	found := `[...document.querySelectorAll(".bx-settings summary code")].map((e) => e.textContent).join(" ")`
	b.fill("Search", "tls")
	b.waitFor(found + ` === "http.tls_listen mqtt.tls_listen"`)
	b.fill("Search", "SMTP_PASS")
	b.waitFor(found + ` === "smtp.password"`)
	b.pressAny("smtp.passwordset, secretfile, line 61")
	b.waitFor(has("SENSEGATE_SMTP_PASSWORD, SENSEGATE_SMTP_PASSWORD_FILE"))
	b.fill("Search", "")
	b.waitFor(`document.querySelector(".bx-search input[type=checkbox]").click() === undefined`)
	b.waitFor(found + ` === "state_dir log.level smtp.password"`)
	b.fill("Search", "no such thing")
	b.waitFor(has("No setting fits."))
}

// records plays a recording: begun, labelled, stopped, downloaded and deleted.
const records = `{
	const ask = globalThis.fetch, at = "/web/v1/admin/recordings", none = () => Response.json({});
	let running, list = [];
	globalThis.kept = [];
	HTMLAnchorElement.prototype.click = function () { kept.push(this.download); };
	globalThis.answerTo = {
		[at]: none, [at + "/label"]: none, [at + "/stop"]: none,
		[at + "/r1/download"]: () => new Response("zip", {headers: {"Content-Disposition": "attachment; filename=r1.zip"}}),
	};
	globalThis.fetch = async (path, given = {}) => {
		const answer = await ask(path, given), does = given.method + path.split(at)[1];
		if (!answer.ok) return answer;
		if (does === "POST") running = {name: "r1", network_id: 17, started: 1763999880, ended: null, minutes: 5, left_s: 300, links: 1, frames: 9, dropped: 0, bytes: 900, label: "", why: ""};
		if (does === "PUT/label") running.label = JSON.parse(given.body).label;
		if (does === "POST/stop") list = [{...running, ended: 1764000000, label: "", why: "stopped"}], running = undefined;
		if (does === "DELETE/r1") list = [];
		return does === "GET" ? Response.json({...await answer.json(), busy: !!running, running, recordings: list}) : answer;
	};
}`

// TestRecordingIsLabelledByTaps: for the password one begins, of the links that were chosen; a tap says
// what happens, and the same tap takes that back; then it is stopped, downloaded and deleted.
func TestRecordingIsLabelledByTaps(t *testing.T) {
	t.Parallel()
	b := guard(t, "#/box/record", nil, records)
	b.fill("Minutes", "5")
	b.waitFor(`document.querySelector(".bx-links input[value='17 GW.02bb00000034']").click() === undefined`)
	b.pressAny("Record")
	b.inDialog("right")
	b.waitFor(has("Recording, 5 minutes left"))
	pressed := func(want string) {
		t.Helper()
		b.waitFor(`[...document.querySelectorAll("[aria-pressed=true]")].map((e) => e.textContent).join() === "` + want + `"`)
	}
	pressed("")
	b.pressAny("Moving")
	pressed("Moving")
	b.isAccessible("a label")
	b.pictures("box-recording")
	b.pressAny("Nobody there")
	pressed("Nobody there")
	b.pressAny("Nobody there")
	pressed("")
	b.pressAny("Stop")
	b.waitFor(`document.querySelectorAll(".bx-list li").length === 1 && ` + has("One recording"))
	b.waitFor(row("2 minutes") + `.querySelector("button").click() === undefined`)
	b.waitFor(`kept.join() === "r1.zip" && ` + has("r1.zip is saved."))
	b.waitFor(row("2 minutes") + `.querySelectorAll("button")[1].click() === undefined`)
	b.inDialog("")
	b.waitFor(has("No recordings"))
	begin := `POST recordings {"network_id":17,"minutes":5,"links":["GW.02bb00000034"]}`
	b.wantSent(begin, begin, `PUT recordings/label {"label":"moving"}`, `PUT recordings/label {"label":"empty"}`, `PUT recordings/label {"label":""}`,
		"POST recordings/stop ", "POST recordings/r1/download {}", "DELETE recordings/r1 ")
}
