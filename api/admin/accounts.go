package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/motion"
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
	Not       bool   `json:"not,omitempty"`       // administrator: not any more
}

func (s *Server) serveAccounts(r *http.Request) (any, error) {
	list, err := s.box.Accounts(r.Context())
	shown := make([]accountShown, len(list))
	for i, a := range list {
		shown[i] = accountShown{a.User, a.Administrator}
	}
	return shown, err
}

// accountShown is an account in the list of the command.
type accountShown struct {
	home.User
	Administrator bool `json:"administrator"`
}

// signsIn is an account and where it signs in.
type signsIn struct {
	home.User
	Page string `json:"page,omitempty"` // address of the app; "": the appliance does not run
}

func (s *Server) serveCreateAccount(r *http.Request, body account) (any, error) {
	u, err := s.box.CreateAccount(r.Context(), actor(r), body.Email, body.Password)
	return signsIn{u, s.box.Reachable().Best()}, err
}

func (s *Server) serveSetPassword(r *http.Request, body account) (any, error) {
	u, err := s.box.SetPassword(r.Context(), actor(r), body.Email, body.Password)
	return signsIn{u, s.box.Reachable().Best()}, err
}

func (s *Server) serveSetAdministrator(r *http.Request, body account) (any, error) {
	u, err := s.box.UserOf(r.Context(), "email", body.Email)
	if err != nil {
		return nil, err
	}
	return s.box.Reachable(), s.box.SetAdministrator(r.Context(), actor(r), u.ID, !body.Not)
}

func (s *Server) serveDeleteAccount(r *http.Request, body account) (any, error) {
	u, err := s.box.UserOf(r.Context(), "email", body.Email)
	if err != nil {
		return nil, err
	}
	how := household.Leaving{Disown: body.Networks}
	if body.Successor != "" {
		successor, err := s.box.UserOf(r.Context(), "successor", body.Successor)
		if err != nil {
			return nil, err
		}
		how.Successor = successor.ID
	}
	return struct{}{}, s.box.DeleteAccount(r.Context(), actor(r), u.ID, how)
}

func showAccounts(w io.Writer, users []accountShown) {
	fmt.Fprintln(w, "ID\tADDRESS\tNAME\tCONFIRMED\tADMINISTRATOR\tCREATED")
	for _, u := range users {
		fmt.Fprintf(w, "%d\t%s\t%s\t%t\t%t\t%s\n", u.ID, u.Email, strings.TrimSpace(u.FirstName+" "+u.LastName), u.Confirmed(), u.Administrator, stamped(u.CreatedAt))
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
				Page     string `json:"page,omitempty"` // address of the app
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
				if user.Page != "" {
					fmt.Fprintf(w, "They sign in at %s\n", user.Page)
				}
			})
		})
	}
}

// passwordFrom reads a password, or makes one of 96 random bits.
func passwordFrom(file string) (password string, made bool, err error) {
	if file == "" {
		return box.NewPassword(), true, nil
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

// setAdministrator is the command that makes an account administrator.
func setAdministrator(flags *flag.FlagSet) action {
	remove := flags.Bool("remove", false, "the account is no administrator any more")
	return withArgument("the address of the account", func(ctx context.Context, c command, email string) error {
		return ask(ctx, c, http.MethodPost, "/users/administrator", account{Email: email, Not: *remove}, func(w io.Writer, reach box.Reach) {
			if *remove {
				fmt.Fprintf(w, "%s looks after the appliance no more\n", email)
				return
			}
			fmt.Fprintf(w, "%s looks after the appliance now, in the app under Box", email)
			if page := reach.Best(); page != "" {
				fmt.Fprintf(w, ": %s", page)
			}
			fmt.Fprintln(w)
		})
	})
}
