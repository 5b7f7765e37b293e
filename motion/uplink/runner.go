package uplink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion/hook"
)

// pace is how often a connection is tried.
type pace struct {
	soon  hook.Backoff  // after failures that may pass
	slow  hook.Backoff  // after those that somebody has to do something about
	short time.Duration // a connection that ended sooner is another failure in a row
}

func defaultPace() pace {
	return pace{
		soon: hook.Backoff{First: time.Second, Most: time.Minute}, slow: hook.Backoff{First: 2 * time.Minute, Most: 15 * time.Minute},
		short: time.Minute,
	}
}

// displaced is how many short connections in a row, each ended by the broker, mean that another client
// has the same id.
const displaced = 3

// runner keeps one uplink connected and runs its parts.
type runner struct {
	uplink  Uplink
	origin  Origin
	parts   []Part
	connect func(context.Context) (Connection, error) // nil: a service that is no broker
	pace    pace
	log     *slog.Logger
	status  status

	again chan struct{} // receives when it is worth trying again at once
	stop  context.CancelFunc
	ended chan struct{}
}

// run runs the uplink until ctx ends.
func (r *runner) run(ctx context.Context) {
	defer close(r.ended)
	for _, part := range r.parts {
		if lasting, ok := part.(Lasting); ok {
			defer lasting.Watch(ctx)()
		}
	}
	row, short := 0, 0
	for ctx.Err() == nil {
		r.status.turn(Connecting, time.Time{}, nil)
		began := time.Now()
		err := r.once(ctx)
		r.status.turn(Waiting, time.Time{}, nil)
		if ctx.Err() != nil {
			return
		}
		lasted := time.Since(began)
		if lasted > r.pace.short {
			row, short = 0, 0
		}
		row++
		if f := (*Failure)(nil); errors.As(err, &f) && f.Closed {
			short++
		} else {
			short = 0
		}
		if short >= displaced {
			err = r.takenID(err)
		}
		r.failed(err, row)
		wait := r.pace.soon.After(row)
		if isSlow(err) {
			wait = r.pace.slow.After(row)
		}
		r.status.turn(Waiting, time.Now().Add(wait), nil)
		select {
		case <-ctx.Done():
		case <-r.again:
		case <-time.After(wait):
		}
	}
}

// takenID is the failure of a broker that ends each connection soon after it began.
func (r *runner) takenID(err error) error {
	return &Failure{Code: "displaced", Slow: true, Closed: true, Err: err, Text: fmt.Sprintf(
		"%s ends each connection soon after it began: another client probably uses the client id %s, so give one of the two another client_id", r.uplink.Host(), r.uplink.clientID())}
}

// failed notes a failure, and logs the first in a row and those that have another reason.
func (r *runner) failed(err error, row int) {
	former := r.status.fail(err)
	if row == 1 || former != err.Error() {
		r.log.Warn("uplink failed", "uplink", r.uplink.Name, "err", err)
	}
}

// once connects and runs the parts until the connection ends, or one of them fails.
func (r *runner) once(ctx context.Context) error {
	var conn Connection
	if r.connect != nil {
		made, err := r.connect(ctx)
		if err != nil {
			return err
		}
		conn = made
		defer conn.Close()
		r.log.Info("uplink connected", "uplink", r.uplink.Name, "host", r.uplink.Host())
	}
	r.status.turn(Connected, time.Time{}, conn)
	err := r.work(ctx, conn)
	if conn != nil && conn.Err() != nil { // what the parts say follows from it
		return conn.Err()
	}
	return err
}

// work runs the parts on a connection, nil for a service, until it ends or one of them fails.
func (r *runner) work(ctx context.Context, conn Connection) error {
	if conn != nil {
		if err := r.introduce(ctx, conn); err != nil {
			return err
		}
	}
	group, running := errgroup.WithContext(ctx)
	for _, part := range r.parts {
		group.Go(func() error { return r.contained(running, part, conn) })
	}
	if conn != nil {
		group.Go(func() error { return r.stayOnline(running, conn) })
		group.Go(func() error {
			select {
			case <-running.Done():
				return nil
			case <-conn.Ended():
				return errors.Join(conn.Err(), errEnded)
			}
		})
	}
	return group.Wait()
}

// introduce has the parts tell how all is, and then says that the appliance is there.
func (r *runner) introduce(ctx context.Context, conn Connection) error {
	for _, part := range r.parts {
		if introducer, ok := part.(Introducer); ok {
			if err := r.guarded(func() error { return introducer.Introduce(ctx, conn) }); err != nil {
				return err
			}
		}
	}
	return conn.Online(ctx)
}

// stayOnline says anew that the appliance is there when something else has said that it is not, such as
// another uplink to the same broker at its end. A broker that does not let it hear that is as good.
func (r *runner) stayOnline(ctx context.Context, conn Connection) error {
	denied := make(chan struct{}, 1)
	err := conn.Subscribe(ctx, r.uplink.Base+"/availability", func(m Message) {
		if string(m.Payload) != "online" {
			select {
			case denied <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		r.log.Debug("uplink cannot read its own availability", "uplink", r.uplink.Name, "err", err)
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-denied:
			if err := conn.Online(ctx); err != nil {
				return err
			}
		}
		select { // who goes on denying it is not answered faster
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// errEnded ends the parts of a connection.
var errEnded = errors.New("the connection has ended")

// contained runs a part.
func (r *runner) contained(ctx context.Context, part Part, peer Peer) error {
	return r.guarded(func() error { return part.Run(ctx, peer) })
}

// guarded does something of a part; a panic of it is an error.
func (r *runner) guarded(do func() error) (err error) {
	defer func() {
		if met := recover(); met != nil {
			r.log.Error("part of an uplink panicked", "uplink", r.uplink.Name, "panic", fmt.Sprint(met))
			err = errors.New("an error of this program ended the connection: the log says more")
		}
	}()
	return do()
}

// state returns how the uplink is.
func (r *runner) state() State {
	c := r.uplink.Config
	s := State{
		Config: c.Shown(), HasPassword: c.Password != "" || c.PasswordFile != "", HasKey: c.ClientKey != "", Origin: r.origin,
		Base: r.uplink.Base, Host: c.Host(), Sends: c.sends(),
	}
	r.status.write(&s)
	for _, part := range r.parts {
		if reporter, ok := part.(Reporter); ok {
			s.add(reporter.Report())
		}
	}
	if s.Error == "" {
		s.Error = s.Trouble
	}
	return s
}
