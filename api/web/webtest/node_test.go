package webtest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sensegate/api/appliance/box"
	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// otherNode is a node of another maker as GET /web/v1/devices tells of it.
func otherNode(why string, node map[string]any) map[string]any {
	all := map[string]any{
		"kind": "ruview", "authenticated": false, "rate": 19.8, "used": 0, "advice": []any{},
		"lengths": []any{map[string]any{"bytes": 128, "share": 0.78}, map[string]any{"bytes": 256, "share": 0.22}},
		"transmitters": []any{
			map[string]any{"mac": "a4:2b:b0:c1:d2:e3", "share": 0.6, "used": false}, map[string]any{"mac": "7a:11:22:33:44:55", "share": 0.4, "used": false},
		},
	}
	maps.Copy(all, node)
	return map[string]any{
		"id": 504, "kind": "node", "device_id": "node:ruview:7c2c6742bbac:2", "name": "RuView node 2", "room": "Kitchen", "state": "online", "why": why, "figures": map[string]any{},
		"address": "192.168.10.42", "heard": 1763999999, "rate": nil, "rssi": nil, "entry": "", "node": all,
	}
}

// advised is a node with advice of a code, which is also why it does not work.
func advised(code string, figures map[string]any) answers {
	node := map[string]any{"advice": []any{code, "no_mac"}}
	maps.Copy(node, figures)
	return answers{"/web/v1/devices": {change: map[string]any{"devices": []any{otherNode(code, node)}}}}
}

// hidden are the figures that an installer does not see.
var hidden = map[string]any{"rate": nil, "used": nil, "lengths": nil, "transmitters": nil}

// deciding is a node that decides about motion itself, with a login of its own.
var deciding = map[string]any{"kind": "mqtt", "authenticated": true, "rate": 1, "used": 1, "lengths": []any{}, "transmitters": []any{}}

// nodeStates are how nodes of other makers are told of.
var nodeStates = []struct {
	name    string
	signed  bool
	address string
	answers answers
}{
	{"a node of which nothing arrives", true, "#/devices", advised("nothing_arrives", map[string]any{"rate": 0, "lengths": []any{}, "transmitters": []any{}})},
	{"a node of which no frame is used", true, "#/devices/node/504", advised("no_transmitter", nil)},
	{"a node that somebody imitates", true, "#/devices", advised("second_source", nil)},
	{"a node whose frames are repeated", true, "#/devices", advised("same_again", nil)},
	{"a node for an installer", true, "#/devices", advised("too_fast", hidden)},
	{"a node that decides itself", true, "#/devices", answers{"/web/v1/devices": {change: map[string]any{"devices": []any{otherNode("", deciding)}}}}},
	{"box: no intakes", true, "#/box/devices", boxed(answers{admin + "devices": {change: map[string]any{"intakes": []any{}}}})},
}

// TestNodesOfOtherMakersSayWhatArrivesAndWhatToDo: in the list, with the details folded.
func TestNodesOfOtherMakersSayWhatArrivesAndWhatToDo(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("status of 503") // nothing is told live
	b.signedIn()
	told := `document.querySelector(".su-part").innerText`
	for _, state := range []struct {
		answers answers
		says    []string
		not     string
	}{
		{advised("nothing_arrives", map[string]any{"rate": 0, "lengths": []any{}, "transmitters": []any{}}), []string{"Nothing arrives from it. Check its power", "No password", "MAC address is not known"}, "a second"},
		{advised("no_transmitter", nil), []string{"19.8 frames a second from 2 transmitters", "None of its frames is used", "--filter-mac"}, "Its frames arrive"},
		{advised("second_source", nil), []string{"Needs attention", "something else seems to send in its name", "Unplug it"}, "Its frames arrive"},
		{advised("same_again", hidden), []string{"The same frame comes again and again", "Its frames arrive"}, "a second"},
		{answers{"/web/v1/devices": {change: map[string]any{"devices": []any{otherNode("", deciding)}}}}, []string{"Fine", "1 messages a second"}, "No password"},
	} {
		b.do(chromedp.Navigate(fixed(t, state.answers)+"/#/devices"), chromedp.WaitVisible(chromedp.CSS(".su-node-told")))
		for _, text := range state.says {
			b.waitFor(fmt.Sprintf("%s.includes(%q)", told, text))
		}
		if text := read[string](b, told); strings.Contains(text, state.not) {
			t.Errorf("%q says %q", text, state.not)
		}
	}
	b.do(chromedp.Navigate(fixed(t, nil)+"/#/links/GW.02bb00000031"), chromedp.WaitVisible(chromedp.CSS(".su-one")))
	b.waitFor(has("One of its devices has no password"))
	b.visitHere("#/links")
	b.waitFor(`/no password/.test(` + row("Speaker – Gateway") + `?.innerText) && !/no password/.test(` + row("Television – Gateway") + `?.innerText)`)
	b.pictures("nodes-links")
	b.do(chromedp.Navigate(fixed(t, nil)+"/#/devices"), chromedp.WaitVisible(chromedp.CSS(".su-node-told")))
	folded := row("many transmitters") + `.querySelector("details")`
	if read[bool](b, folded+".open") {
		t.Error("the details are not folded")
	}
	b.waitFor(folded + `.querySelector("summary").click() === undefined`)
	b.waitFor(`/Speaker 02:bb:00:00:00:31\s+30 %, not used/.test(` + folded + `.innerText.replaceAll("\u00a0", " ").replaceAll("%", " %").replace(/ +/g, " "))`)
	b.pictures("nodes-devices")
	b.isAccessible("a node with its details")
	b.fitsNarrow("a node with its details")
}

// TestNodesOfOtherMakersAreExplainedInEachLanguage: what the demo does not have.
func TestNodesOfOtherMakersAreExplainedInEachLanguage(t *testing.T) {
	t.Parallel()
	b := open(t, 390, 844)
	b.tolerate("status of 503") // nothing is told live
	b.beforePages(hearing)
	b.signedIn()
	var devices []any
	for i, code := range []string{"nothing_arrives", "second_source", "same_again", "no_transmitter", "many_transmitters", "too_fast", "no_mac", "like_another"} {
		device := otherNode(code, map[string]any{"advice": []any{code}})
		device["id"] = 600 + i
		devices = append(devices, device)
	}
	devices = append(devices, otherNode("", deciding), otherNode("", hidden))
	page := fixed(t, answers{"/web/v1/devices": {change: map[string]any{"devices": devices}}})
	b.do(chromedp.Navigate(page+"/#/devices"), chromedp.WaitVisible(chromedp.CSS("h1")))
	for _, language := range []string{"en", "de", "fr"} {
		read[bool](b, `localStorage.setItem("sensegate-language", "`+language+`") === undefined`)
		b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".su-node-told")))
		b.waitFor(fmt.Sprintf(`document.querySelectorAll(".su-node-told").length === %d`, len(devices)))
		read[bool](b, `[...document.querySelectorAll("main details")].every((d) => d.open = true)`)
		b.isTranslated("nodes", language)
		b.fitsNarrow("nodes in " + language)
		b.pictures("nodes-" + language)
	}
}

// board plays a board with the firmware of RuView until the test ends: frames of these transmitters in turn.
func board(t *testing.T, address string, number uint8, transmitters ...motion.MAC) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "udp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); <-ended; _ = conn.Close() })
	go func() {
		defer close(ended)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		f := nodewire.Frame{Node: number, Channel: 6, RSSI: -50, Noise: csi.NoiseUnknown, Data: make([]byte, 128)}
		for ; ctx.Err() == nil; f.Seq.Number++ {
			f.Src = transmitters[f.Seq.Number%uint32(len(transmitters))]
			for i := range f.Data {
				f.Data[i] = byte(20 + (int(f.Seq.Number)+i)%7)
			}
			_, _ = conn.Write(nodewire.AppendRuView(nil, &f)) // the box may be gone
			<-ticker.C
		}
	}()
}

// TestFirstRunWithBoardsOfAnotherMaker: the owner of two of them sees what arrives, and what one lacks.
func TestFirstRunWithBoardsOfAnotherMaker(t *testing.T) {
	t.Parallel()
	b, p := newBox(t, "SENSEGATE_NODES_RUVIEW_LISTEN=127.0.0.1:0")
	list := box.Administer(t, p.line[0], p.dir, "device", "list")
	at := regexp.MustCompile(`udp (127\.0\.0\.1:\d+)`).FindStringSubmatch(list)
	if at == nil {
		t.Fatalf("no address in %s", list)
	}
	router, phone := motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}, motion.MAC{0x7a, 0x11, 0x22, 0x33, 0x44, 0x55}
	board(t, at[1], 2, router)
	h := &hand{browser: b}
	b.do(chromedp.Navigate(p.page("127.0.0.1")+"/#setup="+p.code), chromedp.WaitVisible(chromedp.CSS("#password")))
	h.account("Robin", "robin@example.com")
	h.at("One home was found")
	b.waitFor(has("RuView node 2"))
	h.tap("This is the home")
	h.at("Plug in the devices")
	b.waitLong(`/[\d.]+ frames a second from one transmitter/.test(` + row("RuView node 2") + `?.innerText)`)
	board(t, at[1], 3, router, phone)
	b.waitLong(`/from 2 transmitters[^]*None of its frames is used/.test(` + row("RuView node 3") + `?.innerText)`)
	b.waitLong(`!/Needs|None/.test(` + row("RuView node 2") + `?.innerText) && ` + row("RuView node 2") + `.classList.contains("su-online")`)
	b.waitFor(`document.querySelector(".su-window button").click() === undefined`)
	b.shot("node-first-run")
	b.visitHere("#/box/devices")
	b.do(chromedp.WaitVisible(chromedp.CSS(".bx h1")))
	b.waitFor(has("Nodes of other makers"))
	b.shot("node-box")
}
