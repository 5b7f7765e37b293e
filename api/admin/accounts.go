package admin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/notify"
	"sensegate/store"
)

// offlineAccounts returns the accounts of an appliance that does not run: without connections
// and mails.
func offlineAccounts(stateDir string, db *store.DB, log *slog.Logger) (*auth.Accounts, error) {
	keys, err := auth.OpenKeyring(SigningKeys(stateDir), motion.TimeOf(time.Now()), log)
	if err != nil {
		return nil, err
	}
	noMail := func(*store.Tx, notify.Mail) error { return nil }
	sessions := auth.NewSessions(db, keys, func() {})
	return auth.NewAccounts(db, sessions, auth.NewPasswords(auth.DefaultArgon()), noMail), nil
}

// account is the body of a command about an account.
type account struct {
	Email     string `json:"email"`
	Password  string `json:"password,omitempty"`
	Networks  bool   `json:"networks,omitempty"`  // deleting: disown what they own
	Successor string `json:"successor,omitempty"` // deleting: the address of who is to own it
}

func (s *Server) serveAccounts(r *http.Request) (any, error) {
	return store.Read(r.Context(), s.DB, (*store.Tx).Users)
}

func (s *Server) serveCreateAccount(r *http.Request, body account) (any, error) {
	return s.Accounts.Create(r.Context(), auth.Registration{Email: body.Email, Password: body.Password})
}

func (s *Server) serveSetPassword(r *http.Request, body account) (any, error) {
	return s.Accounts.SetPassword(r.Context(), body.Email, body.Password)
}

func (s *Server) serveDeleteAccount(r *http.Request, body account) (any, error) {
	if s.Household == nil {
		return nil, fault.New(fault.Unavailable, "an account is deleted by the running appliance, which tells the household: start it first")
	}
	var user, successor home.User
	err := s.DB.View(r.Context(), func(tx *store.Tx) (err error) {
		if user, err = userOf(tx, "email", body.Email); err == nil && body.Successor != "" {
			successor, err = userOf(tx, "successor", body.Successor)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.Household.DeleteUser(r.Context(), user.ID, household.Leaving{Disown: body.Networks, Successor: successor.ID})
}

// userOf returns the user whose address is in a field of a command.
func userOf(tx *store.Tx, field, email string) (home.User, error) {
	u, ok, err := tx.UserByEmail(email)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "%s: no account has this address", field)
	}
	return u, err
}

func showAccounts(w io.Writer, users []home.User) {
	fmt.Fprintln(w, "ID\tADDRESS\tNAME\tCONFIRMED\tCREATED")
	for _, u := range users {
		fmt.Fprintf(w, "%d\t%s\t%s\t%t\t%s\n", u.ID, u.Email, strings.TrimSpace(u.FirstName+" "+u.LastName), u.Confirmed(), stamped(u.CreatedAt))
	}
}

// givePassword is a command that gives an account a password: the first line of a file, or
// a new one, which is shown.
func givePassword(path, done string) func(*flag.FlagSet) action {
	return func(flags *flag.FlagSet) action {
		file := flags.String("password-file", "", "file with the password, - for standard input; empty: one is made and shown")
		return withArgument("the address of the account", func(ctx context.Context, c command, email string) error {
			password, made, err := passwordFrom(*file)
			if err != nil {
				return err
			}
			var user struct {
				home.User
				Password string `json:"password,omitempty"`
			}
			if err := c.client.do(ctx, http.MethodPost, path, account{Email: email, Password: password}, &user); err != nil {
				return err
			}
			if made {
				user.Password = password
			}
			return c.print(user, func(w io.Writer) {
				fmt.Fprintf(w, "user %d: %s\n", user.ID, done)
				if made {
					fmt.Fprintf(w, "password: %s\n", password)
				}
			})
		})
	}
}

// passwordFrom reads a password, or makes one of 96 random bits.
func passwordFrom(file string) (password string, made bool, err error) {
	if file == "" {
		random := make([]byte, 12)
		rand.Read(random) // never fails: it ends the program instead
		return base64.RawURLEncoding.EncodeToString(random), true, nil
	}
	password, err = firstLine(file)
	return password, false, err
}

func deleteAccount(flags *flag.FlagSet) action {
	networks := flags.Bool("networks", false, "disown the networks that they own; otherwise a member owns them from then on")
	successor := flags.String("successor", "", "address of that member; empty: the one who joined first")
	return withArgument("the address of the account", func(ctx context.Context, c command, email string) error {
		body := account{Email: email, Networks: *networks, Successor: *successor}
		return ask(ctx, c, http.MethodPost, "/users/delete", body, func(w io.Writer, _ struct{}) {
			fmt.Fprintf(w, "deleted the account of %s\n", email)
		})
	})
}
