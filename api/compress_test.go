package api_test

import (
	"net/http"
	"testing"

	"sensegate/api/sampletest"
)

func TestGzipIsSentToWhoTakesIt(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for accepted, want := range map[string]string{
		"gzip": "gzip", "GZIP ": "gzip", "br, gzip;q=0.5": "gzip", "*": "gzip", "deflate, *;q=0.1": "gzip",
		"": "", "identity": "", "br, zstd": "", "gzip;q=0": "", "*;q=0": "", "gzip;q=0, *": "", "*, gzip; q=0.000": "", "gzip;q=x": "",
	} {
		w := sampletest.Do(s, "GET", "/core/encoded", "", "Accept-Encoding", accepted)
		sampletest.WantStatus(t, w, http.StatusOK)
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: coding %q, want %q", accepted, got, want)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: caches are not told: %v", accepted, w.Header())
		}
	}
	if w := sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

func TestDocumentIsCompressed(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	plain := sampletest.Do(s, "GET", "/core/openapi.json", "")
	packed := sampletest.Do(s, "GET", "/core/openapi.json", "", "Accept-Encoding", "gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > plain.Body.Len()/3 {
		t.Errorf("%d bytes of %d: %v", packed.Body.Len(), plain.Body.Len(), packed.Header())
	}
}
