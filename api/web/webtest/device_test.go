package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// overTLS serves an app over https, by a name and with a certificate that the browser trusts by the
// fingerprint of its key. While away is true it answers nothing.
func overTLS(t *testing.T, app string) (page, fingerprint string, away *atomic.Bool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{lanName}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(public)
	at, err := url.Parse(app)
	if err != nil {
		t.Fatal(err)
	}
	away = &atomic.Bool{}
	proxy := httputil.NewSingleHostReverseProxy(at)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	return "https://" + lanName + ":" + port, base64.StdEncoding.EncodeToString(sum[:]), away
}

// staysSignedIn makes each page that is opened from now on show a proof that outlives the window.
const staysSignedIn = `localStorage.getItem("was") || (localStorage.setItem("sensegate-proof", "a proof"), localStorage.setItem("was", "1"))`

// kept is what the browser keeps of the home.
const kept = `localStorage.getItem("sensegate-last")`

// TestAppOpensWithTheLastStateWhenTheBoxIsAway: over https and by name, for one who stays signed in;
// it says of when that is. Signing out leaves nothing of it.
func TestAppOpensWithTheLastStateWhenTheBoxIsAway(t *testing.T) {
	t.Parallel()
	page, fingerprint, away := overTLS(t, fixed(t, answers{"DELETE /web/v1/session": {change: map[string]any{}}}))
	b := open(t, 390, 844, chromedp.Flag("ignore-certificate-errors-spki-list", fingerprint), chromedp.UserDataDir(t.TempDir()))
	b.tolerate("net::", "status of 503")
	b.beforePages(staysSignedIn)
	b.do(chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.waitFor(`navigator.serviceWorker.controller !== null && ` + kept + ` !== null`)
	if n := read[int](b, `document.querySelectorAll("link[rel=manifest]").length`); n != 1 {
		t.Errorf("%d manifests", n)
	}
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".truth h1"))) // the worker sees each file
	b.waitFor(banner + ` === ""`)
	away.Store(true)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.waitFor(`/^As of .*, the box cannot be reached\.$/.test(` + banner + `) && ` + sentence + ` === "Quiet for 14 minutes"`)
	b.pictures("offline")
	b.fitsNarrow("the last state")
	away.Store(false)
	read[bool](b, `document.dispatchEvent(new Event("visibilitychange"))`)
	b.waitFor(banner + ` === ""`)
	read[bool](b, `(location.hash = "#/me") !== ""`)
	b.pressAny("Sign out")
	b.do(chromedp.WaitVisible(chromedp.CSS("#password")))
	b.waitFor(kept + ` === null`)
	// A browser may show a file while the worker still keeps it.
	read[bool](b, `(caches.open("sensegate-files").then(async (c) => { while (!(await c.keys()).some((k) => k.url.includes("/enter-"))) await new Promise((go) => setTimeout(go, 50)); window.enterKept = true; }), true)`)
	b.waitFor(`window.enterKept === true`)
	away.Store(true)
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#password"))) // the files alone
}

// TestNothingIsKeptOverHTTP: neither a worker, nor a manifest, nor the state of the home.
func TestNothingIsKeptOverHTTP(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", lanName} {
		b := open(t, 390, 844)
		b.tolerate("status of 503")
		b.beforePages(`location.protocol === "http:" && ` + staysSignedIn)
		page := strings.Replace(fixed(t, nil), "127.0.0.1", host, 1)
		b.do(chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
		b.waitFor(`document.readyState === "complete"`)
		if read[bool](b, kept+` !== null || document.querySelector("link[rel=manifest]") !== null || performance.getEntriesByType("resource").some((e) => e.name.includes("worker"))`) {
			t.Errorf("something is kept by %s", host)
		}
	}
}
