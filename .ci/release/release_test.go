package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"
)

// tested are the targets that tests build: one of each kind of package, and an image for two machines.
var tested = []string{"amd64", "armv6"}

// scratch is where tests share what takes long to make.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "sensegate-release-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// released is what one run writes.
type released struct {
	source
	out string
	key *signer
}

// release builds the tested targets once, signed, from a copy of the sources.
var release = sync.OnceValues(func() (released, error) {
	path := filepath.Join(scratch, "key")
	if err := makeKey("/no/clone", path); err != nil {
		return released{}, err
	}
	key, err := readKey(path)
	if err != nil {
		return released{}, err
	}
	return releaseFrom("one", key)
})

// releaseFrom copies the sources to a directory of that name and builds from there.
func releaseFrom(name string, key *signer) (r released, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return r, err
	}
	if r.source, err = readSource(root, ""); err != nil {
		return r, err
	}
	r.root = filepath.Join(scratch, name, "clone")
	r.out = filepath.Join(scratch, name, "out")
	r.key = key
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(r.root, 0o755); err != nil {
		return r, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, not yet committed
		} else if err != nil {
			return r, err
		}
		to := filepath.Join(r.root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o644)); err != nil {
			return r, err
		}
	}
	return r, makeAll(r.source, chosen(), r.out, key, key.public)
}

func chosen() []target {
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return !slices.Contains(tested, t.name) })
}

// built returns what the tested targets' run wrote.
func built(t *testing.T) released {
	t.Helper()
	r, err := release()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// binary returns the path of the program for a target.
func (r released) binary(name string) string {
	return filepath.Join(r.out, "sensegate-"+r.version+"-linux-"+name)
}

// artefact returns the only file whose name matches a pattern.
func (r released) artefact(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.out, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v; want one file", pattern, found, err)
	}
	return found[0]
}

// need skips a test without programs, and fails it in CI.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			without(t, p+" is missing")
		}
	}
}

// needRoot skips a test that makes namespaces as root, and fails it in CI.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		without(t, "it needs root, for chroot and namespaces")
	}
}

func without(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// sums returns the SHA-256 of each file of a directory.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return all
}

func TestTwoBuildsFromTwoDirectoriesAreTheSame(t *testing.T) {
	t.Parallel()
	first := built(t)
	second, err := releaseFrom("another/directory/with/a/longer/name", first.key)
	if err != nil {
		t.Fatal(err)
	}
	one, two := sums(t, first.out), sums(t, second.out)
	if len(one) < 12 {
		t.Errorf("%d files, want at least 12: %v", len(one), slices.Sorted(maps.Keys(one)))
	}
	for name := range one {
		if one[name] != two[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d files and %d", len(one), len(two))
	}
}

func TestSumsAreThoseThatSha256sumChecks(t *testing.T) {
	t.Parallel()
	r := built(t)
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", sumsFile)
	check.Dir = r.out
	if said, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for name := range sums(t, r.out) {
		listed, err := os.ReadFile(filepath.Join(r.out, sumsFile))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, sumsFile) && !strings.HasSuffix(name, ".minisig") && !strings.Contains(string(listed), "  "+name+"\n") {
			t.Errorf("%s is not in %s", name, sumsFile)
		}
	}
}

func TestTheVersionIsToldByTheProgram(t *testing.T) {
	t.Parallel()
	r := built(t)
	said, err := exec.Command(r.binary("amd64"), "version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{r.version, r.commit, r.date.Format("2006-01-02T15:04:05Z")} {
		if !strings.Contains(string(said), want) {
			t.Errorf("sensegate version says %q, want it to contain %q", said, want)
		}
	}
}

func TestSignaturesAreThoseOfMinisign(t *testing.T) {
	t.Parallel()
	r := built(t)
	need(t, "minisign")
	var public minisign.PublicKey
	if err := public.UnmarshalText([]byte(r.key.public)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{r.binary("amd64"), r.binary("armv6"), filepath.Join(r.out, sumsFile)} {
		if said, err := exec.Command("minisign", "-V", "-H", "-P", r.key.public, "-m", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, said)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := os.ReadFile(path + ".minisig")
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		if minisign.Verify(public, content, signature) {
			t.Errorf("the signature of %s is also one of an altered file", path)
		}
	}
}

func TestAKeyWithAPasswordIsReadWithItAlone(t *testing.T) { // not parallel: it sets the environment
	path := filepath.Join(t.TempDir(), "key")
	t.Setenv(passwordVariable, "a password of a test")
	if err := makeKey("/no/clone", path); err != nil {
		t.Fatal(err)
	}
	key, err := readKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := os.ReadFile(path + ".pub"); err != nil || !strings.Contains(string(shown), key.public) {
		t.Errorf("public key %s, in the file %s (%v)", key.public, shown, err)
	}
	t.Setenv(passwordVariable, "another")
	if _, err := readKey(path); err == nil {
		t.Error("another password opens it")
	}
	if err := makeKey("/no/clone", path); err == nil {
		t.Error("a key was overwritten")
	}
	if err := makeKey(filepath.Dir(path), filepath.Join(filepath.Dir(path), "new")); err == nil {
		t.Error("a key was written into the repository")
	}
}

func TestTheBillOfMaterialsNamesEveryModule(t *testing.T) {
	t.Parallel()
	r := built(t)
	for _, name := range tested {
		info, err := buildinfo.ReadFile(r.binary(name))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(r.binary(name) + ".cdx.json")
		if err != nil {
			t.Fatal(err)
		}
		var bom struct {
			BOMFormat  string
			Components []struct{ Name, Version, PURL string }
			Metadata   struct {
				Component struct{ Hashes []struct{ Content string } }
			}
		}
		if err := json.Unmarshal(raw, &bom); err != nil {
			t.Fatal(err)
		}
		if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Hashes[0].Content != sums(t, r.out)[filepath.Base(r.binary(name))] {
			t.Errorf("%s: format %q, hash %v", name, bom.BOMFormat, bom.Metadata.Component.Hashes)
		}
		versions := map[string]string{}
		for _, c := range bom.Components {
			versions[c.Name] = c.Version
		}
		if want := strings.TrimPrefix(info.GoVersion, "go"); versions["std"] != want {
			t.Errorf("%s: standard library %q, want %q", name, versions["std"], want)
		}
		for _, module := range info.Deps {
			if versions[module.Path] != module.Version {
				t.Errorf("%s: %s is of %q, want %q", name, module.Path, versions[module.Path], module.Version)
			}
		}
	}
}
