package notify

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sensegate/motion/home"
	"sensegate/motion/hook"
	"sensegate/store"
)

// TestDeliveryWaitsOrIsOverAndNeverBoth settles deliveries in all ways in any order.
func TestDeliveryWaitsOrIsOverAndNeverBoth(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.notifier(serveFCM(t).config).Pusher
	rapid.Check(t, func(t *rapid.T) {
		d := b.mobile(b.owner, rapid.StringMatching(`[a-z]{8}`).Draw(t, "token"))
		b.push(b.network, b.owner)
		if err := p.expand(b.Context()); err != nil {
			t.Fatal(err)
		}
		start := b.stamp()
		for {
			var mine *store.Delivery
			for _, delivery := range b.deliveries() {
				if delivery.Mobile == d.ID {
					mine = &delivery
				}
			}
			if mine == nil {
				break
			}
			if mine.DueAt < b.stamp() || mine.DueAt.Since(start) > pushKept {
				t.Fatalf("due %v after the start at %v", mine.DueAt.Since(start), b.stamp().Since(start))
			}
			b.forward(mine.DueAt.Since(b.stamp()))
			j := job{Delivery: *mine, token: d.Token, out: outcome{
				verdict: rapid.SampledFrom([]hook.Verdict{hook.Accepted, hook.Refused, hook.TryAgain, hook.TryAgain}).Draw(t, "verdict"),
				asked:   time.Duration(rapid.IntRange(0, 300).Draw(t, "asked")) * time.Second, err: errors.New("why"),
			}}
			j.out.dead = j.out.verdict == hook.Refused && rapid.Bool().Draw(t, "dead")
			b.update(func(tx *store.Tx) error { return p.settle(tx, &j) })
			after, there := b.device(d.ID)
			if there == j.out.dead {
				t.Fatalf("device there %t after %+v", there, j.out)
			}
			if j.out.verdict == hook.Accepted && after.LastError != "" {
				t.Fatalf("blamed after %+v", j.out)
			}
		}
		b.update(func(tx *store.Tx) error { return dropMobiles(tx, b.owner.ID) })
	})
}

// deliveries returns what is on its way, whenever it is due.
func (b *box) deliveries() (list []store.Delivery) {
	b.Helper()
	b.forward(24 * time.Hour)
	b.update(func(tx *store.Tx) (err error) {
		list, err = tx.DeliveriesDue(1000)
		return err
	})
	b.forward(-24 * time.Hour)
	return list
}

func dropMobiles(tx *store.Tx, user home.UserID) error {
	list, err := tx.MobilesOfUser(user)
	for _, d := range list {
		err = errors.Join(err, tx.DeleteMobile(d.ID))
	}
	return err
}

func TestCutKeepsWholeCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "most")
		got := cut(text, most)
		if len(got) > most || got != text[:len(got)] || utf8.ValidString(text) && !utf8.ValidString(got) || len(text) > most && len(got)+utf8.UTFMax <= most {
			t.Fatalf("%q of %q, at most %d", got, text, most)
		}
	})
}

// FuzzAnswerOfTheService: only what says that a token is dead removes one.
func FuzzAnswerOfTheService(f *testing.F) {
	for code, body := range map[int]string{404: unregistered, 400: invalidArgument, 403: senderMismatch, 429: quotaExceeded, 503: unavailable, 401: unauthenticated, 200: `{"name": "x"}`} {
		f.Add(code, []byte(body))
	}
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		got := (&fcm{}).judge(&http.Response{StatusCode: code, Header: http.Header{}}, body)
		accepted := code/100 == 2
		if (got.err == nil) != accepted || (got.verdict == hook.Accepted) != accepted {
			t.Errorf("%d %q: %+v", code, body, got)
		}
		if got.dead && (!json.Valid(body) || accepted) {
			t.Errorf("%d %q: dead", code, body)
		}
	})
}

// FuzzServiceAccount: what is no account is refused without being shown.
func FuzzServiceAccount(f *testing.F) {
	f.Add(`{"project_id": "p", "client_email": "e", "token_uri": "https://x", "private_key": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := FCMConfig{Credentials: text}.account()
		if text != "" && (a == nil) == (err == nil) {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	})
}
