package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// mobile registers a mobile device.
func (b *box) mobile(user home.User, token string) (d home.MobileDevice) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		d, err = tx.RegisterMobile(store.MobileRegistration{User: user.ID, Token: token, Shared: token == "load-test"})
		return err
	})
	return d
}

// push queues a push as an alert does.
func (b *box) push(network motion.NetworkID, users ...home.User) {
	b.Helper()
	var ids []int64
	for _, u := range users {
		ids = append(ids, int64(u.ID))
	}
	b.update(func(tx *store.Tx) error {
		_, err := tx.AddPush(store.Push{NetworkID: network, UserIDs: ids, Payload: motion.Document{"data": map[string]any{"title": "Rise and shine"}}})
		return err
	})
}

// round has a pusher do what is to be done now.
func (b *box) round(p *Pusher) {
	b.Helper()
	if err := p.expand(b.Context()); err != nil {
		b.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = p.deliver(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// waiting returns what is on its way, by id.
func (b *box) waiting() (list []store.Delivery) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		for id := range uint64(100) {
			d, ok, err := tx.Delivery(id)
			if err != nil {
				return err
			}
			if ok {
				list = append(list, d)
			}
		}
		return nil
	})
	return list
}

// device returns a mobile device and whether it is still there.
func (b *box) device(id home.MobileID) (d store.MobileDevice, ok bool) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		d, ok, err = tx.FindMobile(id)
		return err
	})
	return d, ok
}

func TestPushReachesTheDevicesOfThoseItIsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to   func(*box) []home.User
		want string
	}{
		"nobody named: all members": {func(*box) []home.User { return nil }, "owner-1 owner-2 member"},
		"one":                       {func(b *box) []home.User { return []home.User{b.member} }, "member"},
		"one who is no member":      {func(b *box) []home.User { return []home.User{b.neighbour, b.owner} }, "owner-1 owner-2"},
		"nobody who is one":         {func(b *box) []home.User { return []home.User{b.neighbour} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fcm := newBox(t), serveFCM(t)
			p := b.notifier(fcm.config).Pusher
			b.mobile(b.owner, "owner-1")
			b.mobile(b.owner, "owner-2")
			b.mobile(b.member, "member")
			b.mobile(b.neighbour, "neighbour")
			b.push(b.network, c.to(b)...)
			b.round(p)
			got := strings.Fields(fcm.tokens())
			want := strings.Fields(c.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || len(b.waiting()) != 0 {
				t.Errorf("pushed to %v, want %v; waiting %+v", got, want, b.waiting())
			}
			if len(got) > 0 && fcm.logins != 1 {
				t.Errorf("%d access tokens for %d messages", fcm.logins, len(got))
			}
		})
	}
}

func TestMutedMemberGetsNothing(t *testing.T) {
	t.Parallel()
	b, fcm, hook := newBox(t), serveFCM(t), serveWebhook(t)
	p := b.notifier(fcm.config, hook.config).Pusher
	b.mobile(b.owner, "owner")
	b.mobile(b.member, "member")
	mute := func(muted bool) {
		b.update(func(tx *store.Tx) error {
			m, _, err := tx.MembershipOf(b.home, b.member.ID)
			m.Muted = muted
			return errors.Join(err, tx.PutMembership(m))
		})
	}
	b.push(b.network)
	if err := p.expand(t.Context()); err != nil {
		t.Fatal(err)
	}
	mute(true) // as one who has left and was added again
	b.push(b.network)
	b.push(b.network, b.member)
	b.round(p)
	if got := fcm.tokens(); got != "owner owner" || len(b.waiting()) != 0 {
		t.Errorf("pushed to %q; waiting %+v", got, b.waiting())
	}
	for _, post := range hook.all() {
		var body pushed
		if json.Unmarshal(post.body, &body) != nil || !slices.Equal(body.Data.Users, []home.UserID{b.owner.ID}) {
			t.Errorf("post %s", post.body)
		}
	}
	mute(false)
	b.push(b.network, b.member)
	b.round(p)
	if got := fcm.tokens(); got != "owner owner member" {
		t.Errorf("not muted any more: pushed to %q", got)
	}
}

func TestPayloadGoesAsTheAlertHasIt(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	p := b.notifier(fcm.config).Pusher
	b.mobile(b.owner, "phone")
	b.update(func(tx *store.Tx) error {
		_, err := tx.AddPush(store.Push{NetworkID: b.network, Payload: motion.Document{
			"data": map[string]any{"title": "Rise and shine", "count": 3, "nested": map[string]any{"a": true}, "none": nil},
			"apns": map[string]any{"headers": map[string]any{"apns-push-type": "alert"}},
		}})
		return err
	})
	b.round(p)
	want := []map[string]any{{
		"token": "phone",
		"data":  map[string]any{"title": "Rise and shine", "count": "3", "nested": `{"a":true}`, "none": "null"},
		"apns":  map[string]any{"headers": map[string]any{"apns-push-type": "alert"}},
	}}
	if diff := cmp.Diff(want, fcm.messages); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersOfTheServiceDecideWhatBecomesOfAPush(t *testing.T) {
	t.Parallel()
	const again, gone, givenUp = "again", "gone", "given up"
	for name, c := range map[string]struct {
		code   int
		body   string
		want   string
		reason string
	}{
		"unregistered":         {404, unregistered, gone, ""},
		"unregistered as 400":  {400, strings.Replace(invalidArgument, `"errorCode": "INVALID_ARGUMENT"`, `"errorCode": "UNREGISTERED"`, 1), gone, ""},
		"not found, no detail": {404, `{"error": {"code": 404, "status": "NOT_FOUND"}}`, gone, ""},
		"a page not found":     {404, "<html>", givenUp, "404"},
		"invalid argument":     {400, invalidArgument, givenUp, "INVALID_ARGUMENT"},
		"of another sender":    {403, senderMismatch, givenUp, "SENDER_ID_MISMATCH"},
		"redirected":           {307, "", givenUp, "307"},
		"gone":                 {410, "", givenUp, "410"},
		"over the quota":       {429, quotaExceeded, again, ""},
		"unavailable":          {503, unavailable, again, ""},
		"not authenticated":    {401, unauthenticated, again, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fcm := newBox(t), serveFCM(t)
			p := b.notifier(fcm.config).Pusher
			d := b.mobile(b.owner, "phone-token")
			fcm.answering(func(_ string, w http.ResponseWriter) bool {
				w.Header().Set("Location", "/elsewhere")
				status(w, c.code, c.body)
				return true
			})
			b.push(b.network)
			b.round(p)
			device, there := b.device(d.ID)
			waits := len(b.waiting()) == 1
			if there == (c.want == gone) || waits != (c.want == again) {
				t.Errorf("device there %t, push waits %t, want it %s\n%s", there, waits, c.want, b.log)
			}
			if (device.LastError != "") != (c.want == givenUp) || !strings.Contains(device.LastError, c.reason) {
				t.Errorf("reason %q, want %q", device.LastError, c.reason)
			}
			fcm.answering(func(string, http.ResponseWriter) bool { return false })
			b.forward(time.Minute)
			b.round(p)
			if got := fcm.tokens(); (got == "phone-token") != (c.want == again) {
				t.Errorf("afterwards pushed to %q", got)
			}
			b.wantQuiet("phone-token", "push@lake", "Rise and shine")
		})
	}
}

func TestServiceThatAsksForPatienceGetsIt(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	p := b.notifier(fcm.config).Pusher
	b.mobile(b.owner, "phone")
	fcm.answering(func(_ string, w http.ResponseWriter) bool {
		w.Header().Set("Retry-After", "120")
		status(w, http.StatusTooManyRequests, quotaExceeded)
		return true
	})
	b.push(b.network)
	b.round(p)
	if d := b.waiting()[0]; d.DueAt.Since(b.stamp()) != 2*time.Minute || d.Attempts != 1 {
		t.Errorf("%+v", d)
	}
}

func TestVoidAccessTokenIsReplaced(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	p := b.notifier(fcm.config).Pusher
	b.mobile(b.owner, "phone")
	b.push(b.network)
	b.round(p)
	fcm.revoke()
	b.push(b.network)
	b.round(p)
	b.forward(time.Minute)
	b.round(p)
	if fcm.tokens() != "phone phone" || fcm.logins != 2 {
		t.Errorf("%q after %d log-ins", fcm.tokens(), fcm.logins)
	}
}

func TestRefusedAccountIsTriedAgainAndNotShown(t *testing.T) {
	t.Parallel()
	b, fcm, other := newBox(t), serveFCM(t), serveFCM(t)
	p := b.notifier(other.config, func(o *Options) { o.Push.FCM.Endpoint, o.Push.FCM.TokenURL = fcm.URL, fcm.URL+"/token" }).Pusher
	d := b.mobile(b.owner, "phone")
	b.push(b.network)
	b.round(p)
	if device, _ := b.device(d.ID); len(b.waiting()) != 1 || device.LastError != "" || fcm.logins != 0 {
		t.Errorf("%+v, %+v", b.waiting(), device)
	}
	b.wantQuiet("push@lake-1", "invalid_grant")
	if !strings.Contains(b.log.String(), "access token: the service answered 400") {
		t.Errorf("log:\n%s", b.log)
	}
}

func TestPushIsTriedForSixHours(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	p := b.notifier(fcm.config).Pusher
	d := b.mobile(b.owner, "phone")
	fcm.answering(func(_ string, w http.ResponseWriter) bool { status(w, 503, unavailable); return true })
	b.push(b.network)
	start := b.stamp()
	var waits []time.Duration
	for b.round(p); len(b.waiting()) == 1; b.round(p) {
		wait := b.waiting()[0].DueAt.Since(b.stamp())
		waits = append(waits, wait)
		b.forward(wait)
	}
	if lasted := b.stamp().Since(start); lasted < 5*time.Hour || lasted > 6*time.Hour {
		t.Errorf("tried for %v", lasted)
	}
	if waits[0] < 5*time.Second || waits[0] > 10*time.Second || slices.Max(waits) > 10*time.Minute || len(waits) < 36 {
		t.Errorf("%d waits: %v", len(waits), waits)
	}
	if device, _ := b.device(d.ID); !strings.Contains(device.LastError, "UNAVAILABLE") || device.FailedAt != b.stamp() {
		t.Errorf("%+v", device)
	}
	b.push(b.network)
	b.forward(pushKept + time.Second)
	b.round(p)
	if len(b.waiting()) != 0 || p.counts.expired.Load() != 1 {
		t.Errorf("waiting %+v", b.waiting())
	}
}

func TestFormerMemberGetsNothing(t *testing.T) {
	t.Parallel()
	b, fcm, hook := newBox(t), serveFCM(t), serveWebhook(t)
	p := b.notifier(fcm.config, hook.config).Pusher
	b.mobile(b.owner, "owner")
	b.mobile(b.member, "member")
	b.push(b.network)
	if err := p.expand(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		m, _, err := tx.MembershipOf(b.home, b.member.ID)
		return errors.Join(err, tx.DeleteMembership(m.ID))
	})
	b.round(p)
	if got := fcm.tokens(); got != "owner" || len(b.waiting()) != 0 {
		t.Errorf("pushed to %q; waiting %+v", got, b.waiting())
	}
	var body pushed
	if posts := hook.all(); len(posts) != 1 || json.Unmarshal(posts[0].body, &body) != nil || !slices.Equal(body.Data.Users, []home.UserID{b.owner.ID}) {
		t.Errorf("posts %+v", body)
	}
}

func TestDeviceThatAnotherUserHasNowGetsNothingOfThePast(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	p := b.notifier(fcm.config).Pusher
	b.mobile(b.owner, "phone")
	b.push(b.network, b.owner)
	if err := p.expand(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error { return tx.DeleteMobilesOf(b.owner.ID, "") })
	b.mobile(b.member, "phone")
	b.round(p)
	if got := fcm.tokens(); got != "" || len(b.waiting()) != 0 {
		t.Errorf("pushed to %q; waiting %+v", got, b.waiting())
	}
}

func TestLoadTestTokenIsBuiltAndCountedButNotSent(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	test := func(o *Options) { o.Push.LoadTestToken = "load-test" }
	b.mobile(b.owner, "load-test")
	b.mobile(b.member, "phone")
	b.mobile(b.member, "load-test") // and the owner keeps theirs
	for name, c := range map[string]struct {
		p    *Pusher
		sent uint64
	}{
		"with a service": {b.notifier(fcm.config, test).Pusher, 1}, "without": {b.notifier(test).Pusher, 0},
	} {
		b.push(b.network)
		b.round(c.p)
		if built, sent := c.p.counts.loadTest.Load(), c.p.counts.sent.Load(); built != 2 || sent != c.sent {
			t.Errorf("%s: %d built, %d sent", name, built, sent)
		}
	}
	if fcm.tokens() != "phone" {
		t.Errorf("sent to %q", fcm.tokens())
	}
}

func TestWebhookGetsEachPushSigned(t *testing.T) {
	t.Parallel()
	b, hook := newBox(t), serveWebhook(t)
	p := b.notifier(hook.config).Pusher
	b.push(b.network)
	hook.answering(http.StatusBadGateway)
	b.round(p)
	hook.answering(http.StatusOK)
	b.forward(time.Minute)
	b.round(p)
	posts := hook.all()
	if len(posts) != 2 || posts[0].id != posts[1].id || !strings.HasPrefix(posts[0].id, "push_") {
		t.Fatalf("%+v", posts)
	}
	want := `{"type":"push","timestamp":"2025-11-24T16:00:00.000Z","data":{"network_id":1,"user_ids":[1,2],"payload":{"data":{"title":"Rise and shine"}}}}`
	if got := string(posts[1].body); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	mac := hmac.New(sha256.New, []byte("an invented secret"))
	mac.Write([]byte(posts[1].id + "." + posts[1].timestamp + "." + want))
	if sum := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); posts[1].signature != sum {
		t.Errorf("signature %s, want %s", posts[1].signature, sum)
	}
	if len(b.waiting()) != 0 || p.counts.sent.Load() != 1 || p.counts.failed.Load() != 1 {
		t.Errorf("waiting %+v", b.waiting())
	}
}

func TestWebhookThatIsGoneGetsNothingMore(t *testing.T) {
	t.Parallel()
	b, hook := newBox(t), serveWebhook(t)
	p := b.notifier(hook.config).Pusher
	hook.answering(http.StatusGone)
	for range 3 {
		b.push(b.network)
		b.round(p)
	}
	if got := len(hook.all()); got != 1 || len(b.waiting()) != 0 {
		t.Errorf("%d posts, waiting %+v", got, b.waiting())
	}
}

func TestPushesWaitWhileThereIsNoGateway(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.notifier().Pusher
	if p.enabled() {
		t.Fatal("enabled")
	}
	b.mobile(b.owner, "phone")
	b.push(b.network)
	b.update(func(tx *store.Tx) error {
		list, err := tx.Pushes(b.network)
		if len(list) != 1 {
			t.Errorf("%+v", list)
		}
		return err
	})
	fcm := serveFCM(t)
	b.round(b.notifier(fcm.config).Pusher)
	if fcm.tokens() != "phone" {
		t.Errorf("later pushed to %q", fcm.tokens())
	}
}

func TestPushesCountInTheMetrics(t *testing.T) {
	t.Parallel()
	b, fcm := newBox(t), serveFCM(t)
	n := b.notifier(fcm.config)
	b.mobile(b.owner, "dead")
	b.mobile(b.member, "phone")
	fcm.answering(func(token string, w http.ResponseWriter) bool {
		if token == "dead" {
			status(w, 404, unregistered)
		}
		return token == "dead"
	})
	b.push(b.network)
	b.round(n.Pusher)
	var metrics strings.Builder
	n.Metrics(&metrics)
	for _, want := range []string{`sensegate_pushes_total{result="sent"} 1`, `sensegate_pushes_total{result="dead"} 1`, `sensegate_pushes_total{result="refused"} 0`, "sensegate_pushes_queued 0", "sensegate_mails_queued 0"} {
		if !strings.Contains(metrics.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, metrics.String())
		}
	}
}
