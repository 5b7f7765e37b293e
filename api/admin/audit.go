package admin

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"sensegate/motion/fault"
	"sensegate/store"
)

// auditAnswer is the answer of the audit command.
type auditAnswer struct {
	Lines []store.AuditLine `json:"lines"`
	More  bool              `json:"more"` // there are older ones
}

// userHeader names the system's user who gives a command. It is for the audit log alone: whoever
// opens the socket may do everything anyway.
const userHeader = "X-Sensegate-User"

// actor returns who gives a command.
func actor(r *http.Request) store.Actor {
	return store.Actor{Kind: store.ByTerminal, Name: r.Header.Get(userHeader)}
}

// systemUser returns the name of the user who runs this command, before sudo, or their number.
func systemUser() string {
	name := cmp.Or(os.Getenv("SUDO_USER"), os.Getenv("USER"), fmt.Sprint("uid ", os.Getuid()))
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '_'
		}
		return c
	}, name[:min(len(name), 64)])
}

func (s *Server) serveAudit(r *http.Request) (any, error) {
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || last < 1 || last > 1000 {
		return nil, fault.New(fault.Invalid, "last: want 1 to 1000 lines")
	}
	before, err := strconv.ParseUint(r.URL.Query().Get("before"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.Invalid, "before: want the number of a line")
	}
	lines, more, err := s.box.Audit(r.Context(), before, last)
	return auditAnswer{lines, more}, err
}

// showAudit is the audit command.
func showAudit(flags *flag.FlagSet) action {
	last := flags.Int("last", 50, "how many lines, the newest ones, 1 to 1000")
	before := flags.Uint64("before", 0, "only lines before this one, named by its number")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 0 {
			return fmt.Errorf("audit takes no argument")
		}
		path := fmt.Sprintf("/audit?last=%d&before=%d", *last, *before)
		return ask(ctx, c, http.MethodGet, path, nil, func(w io.Writer, answer auditAnswer) {
			fmt.Fprintln(w, "LINE\tTIME\tWHO\tFROM\tWHAT\tABOUT\tDETAILS")
			for _, l := range answer.Lines {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", l.ID, when(l.At), actorWord(l.Who), dash(l.From), strings.ReplaceAll(l.Action, "_", " "), dash(l.About), detailWords(l.Details))
			}
			if answer.More {
				fmt.Fprintf(w, "\nOlder ones: sensegate audit -before %d\n", answer.Lines[len(answer.Lines)-1].ID)
			}
		})
	}
}

// actorWord names who has done what a line says.
func actorWord(a store.Actor) string {
	switch {
	case a.Kind == store.ByBox:
		return "the box"
	case a.Name == "" && a.UserID != 0:
		return fmt.Sprint("account ", a.UserID)
	case a.Kind == store.ByUplink:
		return "uplink " + a.Name
	case a.Kind == store.ByTerminal:
		return strings.TrimSpace("terminal " + a.Name)
	}
	return a.Name
}

func detailWords(details map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(details)) {
		words = append(words, key+" "+details[key])
	}
	return strings.Join(words, ", ")
}
