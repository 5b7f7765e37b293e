package main

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodesSayHowFarTheyAre(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"ruview -nodes 2 -bind 127.0.0.2 -mixed -foreign 0.5 -to 127.0.0.1:9": {"2 ruview node(s) to 127.0.0.1:9", " sent "},
		"micro-espectre -to 127.0.0.1:9":                                      {"1 micro-espectre node(s) to 127.0.0.1:9"},
		"nexmon -to 127.0.0.1:9 -walk Kitchen@0s":                             {"1 nexmon node(s)"},
		"lines -nodes 2 -listen 127.0.0.1:0":                                  {"2 lines node(s) at tcp://127.0.0.1:", ", at tcp://127.0.0.1:"},
		"espectre -listen 127.0.0.1:0 -mac 7c:2c:67:42:bb:ac":                 {"1 espectre node(s) at http://127.0.0.1:", "(3cf79180d3a0aca4)"},
		"mqtt -user kitchen -nodes 2 -to 127.0.0.1:9":                         {"as kitchen/node, to mqtt://127.0.0.1:9 as kitchen/node-2"},
	} {
		var out, errs bytes.Buffer
		args := append(append([]string{"node"}, strings.Fields(args)...), "-duration", "300ms", "-rate", "100")
		if code := dispatch(t.Context(), args, &out, &errs); code != exitOK {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%v: %q has no %q", args, out.String(), w)
			}
		}
	}
}

func TestNodesNeedAFreePort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, kind := range []string{"lines", "espectre"} {
		var out, errs bytes.Buffer
		if code := dispatch(t.Context(), []string{"node", kind, "-listen", taken.Addr().String()}, &out, &errs); code != exitError || !strings.Contains(errs.String(), "in use") {
			t.Errorf("%s: exit %d, %q", kind, code, errs.String())
		}
	}
}

func TestNodesNeedTheirRecording(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	missing := filepath.Join(t.TempDir(), "none.csi.jsonl")
	if code := dispatch(t.Context(), []string{"node", "ruview", "-from", missing}, &out, &errs); code != exitError || !strings.Contains(errs.String(), "none.csi.jsonl") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}
