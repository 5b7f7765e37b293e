package admin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"sensegate/api/box/moving"
	"sensegate/api/box/passphrase"
	"sensegate/store"
)

// What an answer with a network says beside its body: the header of the file before it, and how much
// was written behind it.
const (
	copyHeader    = "X-Sensegate-Network"
	writtenHeader = "X-Sensegate-Written"
)

// serveExport answers with a network as a file. It is cut off when it cannot be written whole.
func (s *Server) serveExport(w http.ResponseWriter, r *http.Request) {
	id, err := pathNetwork(r)
	var source moving.Source
	if err == nil {
		source, err = s.box.ExportNetwork(r.Context(), actor(r), id)
	}
	if err == nil {
		err = writeHeader(w, source.Header)
	}
	if err != nil {
		s.refuse(w, r.Pattern, err)
		return
	}
	w.Header().Set("Trailer", writtenHeader)
	done, err := moving.Write(r.Context(), w, source)
	if err != nil {
		s.box.Log.Warn("network not sent completely", "network", id, "err", err)
		panic(http.ErrAbortHandler) // so that who reads notices
	}
	text, _ := json.Marshal(done) // numbers alone
	w.Header().Set(writtenHeader, string(text))
}

// serveImport takes in a network that is sent as a file.
func (s *Server) serveImport(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it may be long, and the socket is ours
	var join []string
	if text := r.URL.Query().Get("join"); text != "" {
		join = strings.Split(text, ",")
	}
	taken, err := s.box.ImportNetwork(r.Context(), actor(r), r.Body, join)
	if err != nil {
		_, _ = io.Copy(io.Discard, r.Body) // who sends reads no answer before
		s.refuse(w, r.Pattern, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(taken)
}

// exported is the answer of the export command.
type exported struct {
	Header  moving.Header  `json:"header"`
	Written moving.Written `json:"written"`
	Path    string         `json:"path,omitempty"`

	Passphrase string `json:"passphrase,omitempty"` // that was made
}

// exportNetwork is the network export command.
func exportNetwork(flags *flag.FlagSet) action {
	move := flags.Bool("move", false, "close the network first, because it moves: what its devices say from then on they say to the other box")
	output := flags.String("o", "", "file to write, which is not there yet; empty: standard output")
	secret := flags.String("passphrase-file", "", "encrypt with the passphrase in the first line of this file, - for standard input; empty: one is made and shown")
	plain := flags.Bool("plain", false, "do not encrypt, because it goes through an encrypted connection")
	return withArgument("the network's ID, as network list shows it", func(ctx context.Context, c command, id string) error {
		if *plain && *secret != "" {
			return errors.New("-plain and -passphrase-file exclude each other")
		}
		if *output == "" && IsTerminal(c.out) {
			return errors.New("the file does not fit a terminal: name one by -o, or redirect with >")
		}
		words, made, err := "", false, error(nil)
		switch {
		case *secret != "":
			words, err = newPassphrase(*secret)
		case !*plain:
			words, made = rand.Text(), true
		}
		if err != nil {
			return err
		}
		if *move {
			if err := c.client.do(ctx, http.MethodPost, networkPath(id, "/handover"), nil, &store.Handover{}); err != nil {
				return err
			}
		}
		done, err := c.export(ctx, id, *output, words)
		if err != nil {
			if *move {
				err = fmt.Errorf("%w; the network is closed still: export it once more, or let it go on here: sensegate network take-back %s", err, id)
			}
			return err
		}
		if made {
			done.Passphrase = words
		}
		if c.json {
			return json.NewEncoder(c.said).Encode(done)
		}
		if made {
			fmt.Fprintf(c.said, "Passphrase of the file, which is shown this once: %s\n", words)
		}
		sayExported(c.said, done)
		return nil
	})
}

// export writes a network to a file, "" = standard output, and encrypts it unless words is "".
func (c command) export(ctx context.Context, id, path, words string) (done exported, err error) {
	response, err := c.client.exchange(ctx, http.MethodGet, networkPath(id, "/copy"), http.NoBody)
	if err != nil {
		return done, err
	}
	defer response.Body.Close()
	if err := json.Unmarshal([]byte(response.Header.Get(copyHeader)), &done.Header); err != nil {
		return done, fmt.Errorf("read the answer: %w", err)
	}
	shown := c.counting(response.Body, "written", 0)
	if path == "" {
		_, err = writeBackup(c.out, shown, words)
	} else if _, there := os.Stat(path); there == nil {
		return done, fmt.Errorf("%s is there already: name another file, or remove it first", path)
	} else {
		_, err = saveBackup(path, shown, words)
	}
	shown.done()
	if err != nil {
		return done, fmt.Errorf("the file is not complete: %w", err)
	}
	done.Path = path
	return done, json.Unmarshal([]byte(response.Trailer.Get(writtenHeader)), &done.Written)
}

// sayExported says what a file holds, and what not.
func sayExported(w io.Writer, done exported) {
	fmt.Fprintf(w, "Network %d with %d records of history.\n", done.Header.Network, done.Written.Records)
	if n := done.Written.Unreadable + done.Header.Left.Unreadable; n > 0 {
		fmt.Fprintf(w, "%d records cannot be read and are left out.\n", n)
	}
	sayLeft(w, done.Header.Left)
	if done.Header.Moves {
		fmt.Fprintf(w, "Its devices wait until sensegate network hand-over %d, or network take-back %[1]d.\n", done.Header.Network)
	}
}

// sayLeft says what of a network does not go to another box.
func sayLeft(w io.Writer, left store.LeftBehind) {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			fmt.Fprintf(w, "Not in it: "+format+"\n", args...)
		}
	}
	say(len(left.Keys), "API keys: make new ones there (%s).", strings.Join(left.Keys, ", "))
	say(len(left.Users), "MQTT users of its owners: make new ones there (%s).", strings.Join(left.Users, ", "))
	say(len(left.OtherNodes), "what has nodes of other makers send to this box: point them to the other one (%s).", strings.Join(left.OtherNodes, ", "))
	say(left.Invitations, "%d open invitations: invite them there.", left.Invitations)
	say(left.Installers, "%d installers: let them in there.", left.Installers)
	say(left.Phones, "%d phones: their people sign in there with the same password.", left.Phones)
	say(left.Commands, "%d management commands.", left.Commands)
}

// importNetwork is the network import command.
func importNetwork(flags *flag.FlagSet) action {
	secret := flags.String("passphrase-file", "", "file with the passphrase in its first line, - for standard input")
	join := flags.String("join", "", "addresses, with commas between, whose accounts on this box are those of the same people")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 1 {
			return errors.New("want one file, or none and standard input")
		}
		file, size := io.Reader(os.Stdin), int64(0)
		if len(arguments) == 1 && arguments[0] != "-" {
			opened, err := os.Open(arguments[0])
			if err != nil {
				return fmt.Errorf("read the file: %w", err)
			}
			defer opened.Close()
			if about, err := opened.Stat(); err == nil {
				size = about.Size()
			}
			file = opened
		} else if *secret == "-" {
			return errors.New("standard input is the file: name the passphrase's, or the file as an argument")
		}
		shown := c.counting(file, "read", size)
		plain, err := decryptedNetwork(shown, *secret)
		if err != nil {
			return err
		}
		body, err := c.client.send(ctx, http.MethodPost, "/networks?join="+url.QueryEscape(*join), plain)
		shown.done()
		if err != nil {
			return err
		}
		defer body.Close()
		var taken moving.Taken
		if err := json.NewDecoder(body).Decode(&taken); err != nil {
			return err
		}
		return c.print(taken, func(w io.Writer) { showTaken(w, taken) })
	}
}

// decryptedNetwork returns a reader of what a file holds, which may be encrypted or not.
// passphraseFile is "" when none was named.
func decryptedNetwork(r io.Reader, passphraseFile string) (plain io.Reader, err error) {
	var words string
	if passphraseFile != "" {
		if words, err = firstLine(passphraseFile); err != nil {
			return nil, err
		}
	}
	plain, err = passphrase.Decrypt(r, words, passphrase.MostWork)
	switch {
	case errors.Is(err, passphrase.ErrMissing):
		err = errors.New("the file is encrypted: name a file with its passphrase by -passphrase-file")
	case errors.Is(err, passphrase.ErrWrong):
		err = errors.New("the passphrase is not that of the file")
	}
	return plain, err
}

// showTaken says what was taken in.
func showTaken(w io.Writer, t moving.Taken) {
	if t.Again {
		fmt.Fprintf(w, "It was taken in before, %s, as network %d: nothing was done.\n", when(t.At), t.Network)
	} else {
		fmt.Fprintf(w, "Network %d of the other box is network %d here, with %d records of history.\n", t.Header.Network, t.Network, t.Records-t.Skipped)
		for _, p := range t.People {
			what := "has the password of the other box"
			if p.Joined {
				what = "had an account here, and keeps its password"
			}
			fmt.Fprintf(w, "%s (%s) %s.\n", p.Email, p.Role, what)
		}
		if t.Skipped > 0 {
			fmt.Fprintf(w, "%d records were left out: they are about people who do not belong to the home any more, or of no known form.\n", t.Skipped)
		}
		sayLeft(w, t.Header.Left)
	}
	if t.Header.Moves {
		fmt.Fprintf(w, "\nReceipt: %s\nOn the other box: sensegate network hand-over %d http://ADDRESS-OF-THIS-BOX:8080/gatekeeper %s\n", t.Arrival.Receipt, t.Header.Network, t.Arrival.Receipt)
	}
}
