package passphrase

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"
)

const words = "correct horse battery staple"

// encrypted returns a file with a plain text of so many bytes, and where its header ends.
func encrypted(t *testing.T, size int) (file []byte, header int) {
	t.Helper()
	var out bytes.Buffer
	w, err := Encrypt(&out, words)
	if err != nil {
		t.Fatal(err)
	}
	header = out.Len()
	if _, err := w.Write(bytes.Repeat([]byte{7}, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), header
}

// read decrypts a file whole.
func read(file []byte, words string, mostWork int) (int, error) {
	plain, err := Decrypt(bytes.NewReader(file), words, mostWork)
	if err != nil {
		return 0, err
	}
	data, err := io.ReadAll(plain)
	return len(data), err
}

func TestSizeOfWhatIsEncryptedIsKnownBefore(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 64 << 10, 64<<10 + 1} {
		file, header := encrypted(t, size)
		if got, want := EncryptedSize(int64(size)), int64(len(file)-header); got != want {
			t.Errorf("%d bytes become %d, said %d", size, want, got)
		}
		if n, err := read(file, words, MostWork); err != nil || n != size {
			t.Errorf("%d bytes of %d are read: %v", n, size, err)
		}
	}
}

func TestRefusalsSayWhatIsWrongWithAnEncryptedBackup(t *testing.T) {
	t.Parallel()
	file, header := encrypted(t, 200_000)
	changed := bytes.Clone(file)
	changed[header+70_000] ^= 1
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var forKey bytes.Buffer
	if w, err := age.Encrypt(&forKey, key.Recipient()); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	costly := []byte(strings.Replace(string(file), fmt.Sprintf(" %d\n", min(usualWork, Affordable())), " 30\n", 1))
	for name, c := range map[string]struct {
		file     []byte
		words    string
		mostWork int
		want     error
	}{
		"no passphrase":             {file, "", MostWork, ErrMissing},
		"another passphrase":        {file, "wrong horse battery staple", MostWork, ErrWrong},
		"encrypted for a key":       {forKey.Bytes(), words, MostWork, ErrNoWords},
		"more memory than there is": {file, words, leastWork - 1, ErrMemory},
		"more memory than any has":  {costly, words, MostWork, ErrMemory},
		"cut off in the header":     {file[:40], words, MostWork, ErrDamaged},
		"cut off at a chunk":        {file[:header+2*(64<<10+16)], words, MostWork, ErrDamaged},
		"cut off at the end":        {file[:len(file)-1], words, MostWork, ErrDamaged},
		"a changed byte":            {changed, words, MostWork, ErrDamaged},
	} {
		if n, err := read(c.file, c.words, c.mostWork); !errors.Is(err, c.want) {
			t.Errorf("%s: %d bytes, error %v, want %v", name, n, err, c.want)
		}
	}
}

func TestTroubleWithTheSourceIsNoDamage(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	if _, err := Decrypt(iotest.ErrReader(lost), words, MostWork); !errors.Is(err, lost) || errors.Is(err, ErrDamaged) {
		t.Errorf("error %v, want %v alone", err, lost)
	}
}

func TestKeyTakesAtMostHalfOfTheFreeMemory(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for free, want := range map[int64]int{0: 16, 1: 14, 20 * mib: 14, 64 * mib: 15, 128*mib - 1: 15, 128 * mib: 16, 512 * mib: 18, 64 << 30: 18} {
		if got := affordable(free); got != want {
			t.Errorf("%d bytes are free: factor %d, want %d", free, got, want)
		}
	}
}

func TestFreeMemoryIsThatOfTheMachineAndOfTheGroup(t *testing.T) {
	t.Parallel()
	const meminfo, cgroup, stat = "proc/meminfo", "proc/self/cgroup", "sys/fs/cgroup/box.slice/memory.stat"
	const limit = "sys/fs/cgroup/box.slice/memory.max"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is said":     {nil, 0},
		"the machine":         {map[string]string{meminfo: "MemTotal: 64000 kB\nMemAvailable:   20480 kB\n"}, 20480 << 10},
		"a group of no limit": {map[string]string{meminfo: "MemAvailable: 100 kB\n", cgroup: "0::/box.slice\n", limit: "max\n"}, 100 << 10},
		"a limited group":     {map[string]string{meminfo: "MemAvailable: 9999 kB\n", cgroup: "0::/box.slice\n", limit: "50000\n", stat: "anon 20000\nfile 7\n"}, 30000},
		"a group alone":       {map[string]string{cgroup: "0::/box.slice\n", limit: "50000\n", stat: "anon 60000\n"}, 1},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			path = filepath.Join(root, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got := freeMemory(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
