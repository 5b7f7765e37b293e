package notify

import (
	"fmt"
	"testing"

	"sensegate/store"
)

// BenchmarkMailIntoAFullOutbox is one transaction that writes a mail, with its sync.
func BenchmarkMailIntoAFullOutbox(b *testing.B) {
	x := newBox(b)
	o := x.notifier().Outbox
	x.update(func(tx *store.Tx) error {
		for i := range 1000 {
			if err := o.Mail(tx, Mail{Kind: Invite, To: fmt.Sprintf("%d@example.com", i), Home: x.home}); err != nil {
				return err
			}
		}
		return nil
	})
	for b.Loop() {
		x.mail(o, Mail{Kind: Invite, To: "a@example.com", Home: x.home})
	}
}

// BenchmarkPush queues a push, expands it and makes its delivery to the load-test
// token: all but the network, with three syncs.
func BenchmarkPush(b *testing.B) {
	x := newBox(b)
	p := x.notifier(func(o *Options) { o.Push.LoadTestToken = "load-test" }).Pusher
	x.mobile(x.owner, "load-test")
	for b.Loop() {
		x.push(x.network)
		x.round(p)
	}
}
