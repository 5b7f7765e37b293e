package admin

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress counts what is read through it, and shows it each second on a terminal.
type progress struct {
	io.Reader
	to    io.Writer // nil: nobody looks
	verb  string
	total int64 // bytes that come, 0: not known
	read  int64
	shown time.Time
}

// counting returns a reader of from that shows how far it is.
func (c command) counting(from io.Reader, verb string, total int64) *progress {
	p := &progress{Reader: from, verb: verb, total: total}
	if IsTerminal(c.said) {
		p.to = c.said
	}
	return p
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if p.to != nil && time.Since(p.shown) > time.Second {
		p.shown = time.Now()
		if p.total > 0 {
			fmt.Fprintf(p.to, "\r%s %s of %s ", p.verb, megabytes(p.read), megabytes(p.total))
		} else {
			fmt.Fprintf(p.to, "\r%s %s ", p.verb, megabytes(p.read))
		}
	}
	return n, err
}

// done ends the line that shows how far it is.
func (p *progress) done() {
	if p.to != nil && !p.shown.IsZero() {
		fmt.Fprintf(p.to, "\r%s %s.            \n", p.verb, megabytes(p.read))
	}
}

// waiting shows on a terminal how long work takes already of which nobody knows how far it is, until
// done is called.
func (c command) waiting(verb string) (done func()) {
	if !IsTerminal(c.said) {
		return func() {}
	}
	began, stop, stopped := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for shown := false; ; shown = true {
			select {
			case <-ticker.C:
				fmt.Fprintf(c.said, "\r%s, %s ", verb, time.Since(began).Round(time.Second))
			case <-stop:
				if shown {
					fmt.Fprintln(c.said)
				}
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// IsTerminal reports whether somebody looks at what is written to w.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	about, err := file.Stat()
	return err == nil && about.Mode()&os.ModeCharDevice != 0 && about.Mode()&os.ModeDevice != 0
}
