// Package appliance assembles the product: its configuration, its parts, their
// order at start and stop. It knows every part's constructor and no rule of any.
package appliance

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"sensegate/api"
	"sensegate/api/admin"
	"sensegate/api/app"
	"sensegate/api/pki"
	"sensegate/broker"
	"sensegate/motion/engine"
	"sensegate/motion/integration"
	"sensegate/motion/notify"
	"sensegate/motion/relay"
	"sensegate/store"
)

// Appliance is the assembled product. Open makes one, Run serves and closes it.
type Appliance struct {
	config  Config
	log     *slog.Logger
	db      *store.DB
	engine  *engine.Engine
	relay   *relay.Relay
	notify  *notify.Notifier
	sensors *integration.Service
	base    string // that links in mails begin with, once the ports are bound
	broker  *broker.Server
	http    *api.Server
	core    *api.Server // nil: on http
	admin   *admin.Server
	certs   *pki.Certificates
	parts   app.Parts
}

// Open assembles an appliance on its state directory and binds its ports.
func Open(ctx context.Context, c Config, log *slog.Logger) (_ *Appliance, err error) {
	db, _, err := store.OpenOrRecover(ctx, store.Options{
		Path: admin.Database(c.StateDir), Beside: admin.Beside(c.StateDir), Logger: log, MinFree: int64(c.Store.MinFree), Retention: c.Store.Retention,
		EventShare: int64(c.Store.EventsOfNetwork),
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	c.fitConnections(openFiles(), log)
	a := &Appliance{config: c, log: log, db: db}
	if a.relay, err = relay.New(c.Relay, log); err != nil {
		return nil, err
	}
	a.notify, err = notify.New(db, notify.Options{Mail: c.Mail, Push: c.Push, Base: func() string { return a.base }, Log: log})
	if err != nil {
		return nil, err
	}
	a.engine, err = engine.New(ctx, db, engine.Options{
		FlushInterval: c.Store.FlushInterval, AccessToken: c.Gatekeeper.AccessToken,
		Readopt: c.Gatekeeper.Readopt == "same-address", FirstWindow: c.Gatekeeper.FirstWindow, Log: log,
		WithoutInsights: !c.Insights.Enabled, Relays: a.relays(), Stored: a.notify.Pusher.Event,
		Built: Built(),
	})
	if err != nil {
		return nil, err
	}
	if err = a.openCertificates(); err != nil {
		return nil, err
	}
	if a.broker, err = broker.New(a.config.MQTT, broker.Intake{Engine: a.engine}, log); err != nil {
		return nil, err
	}
	a.engine.Introduce(a.broker)
	a.connectSensors()
	if err = a.assemblePeople(); err != nil {
		return nil, err
	}
	a.admin = admin.NewServer(a.engine, db, admin.People{Accounts: a.parts.Accounts, Household: a.parts.Household}, a.ready, log)
	a.admin.Trust(a.certs.Fingerprint)
	a.admin.OnRevoke(a.recheck)
	a.admin.Core(a.coreHere)
	if err = a.broker.Listen(); err != nil {
		return nil, err
	}
	a.mount()
	if err = a.http.Listen(); err != nil {
		return nil, err
	}
	a.base = c.HTTP.Base(a.http.Addr())
	if a.core != nil {
		if err = a.core.Listen(); err != nil {
			return nil, err
		}
	}
	return a, a.admin.Listen(c.StateDir)
}

// Run serves until ctx ends. The doors close first, then the engine writes what it
// holds, then mails and pushes end, then the relay says goodbye outside, and the
// database is closed last. It is called once.
func (a *Appliance) Run(ctx context.Context) error { return errors.Join(a.serve(ctx), a.db.Close()) }

// Failed is closed when the store has failed: Run returns its error soon.
func (a *Appliance) Failed() <-chan struct{} { return a.db.Failed() }

func (a *Appliance) serve(ctx context.Context) error {
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	worked := make(chan error, 1)
	go func() { worked <- a.engine.Run(working) }()
	telling, stopTelling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopTelling()
	told := make(chan error, 1)
	go func() { told <- a.notify.Run(telling) }()
	relaying, stopRelaying := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRelaying()
	relayed := make(chan error, 1)
	go func() { relayed <- a.relay.Run(relaying) }()

	doors, open := errgroup.WithContext(ctx)
	doors.Go(func() error { return a.db.Watch(open) })
	doors.Go(func() error { return a.broker.Run(open) })
	doors.Go(func() error { return a.sensors.Run(open) })
	doors.Go(func() error { return a.parts.Household.Watch(open) })
	doors.Go(func() error { return a.http.Run(open) })
	doors.Go(func() error { return a.certs.Run(open) })
	if a.core != nil {
		doors.Go(func() error { return a.core.Run(open) })
	}
	doors.Go(func() error { return a.admin.Run(open) })
	doors.Go(func() error { return a.db.BackUpNightly(open) })
	doors.Go(func() error { return a.db.WipeDeleted(open) })
	doors.Go(func() error {
		select {
		case <-open.Done():
			return nil
		case err := <-worked:
			worked <- err
			return err
		case err := <-told:
			told <- err
			return err
		case <-a.db.Failed():
			return a.db.Err()
		}
	})
	a.log.Info("ready", "http", a.http.Addr().String(), "mqtt", a.broker.Addr().String(), "state", a.config.StateDir)
	a.sayTLS()
	err := doors.Wait()
	stopWorking()
	err = errors.Join(err, <-worked)
	stopTelling()
	err = errors.Join(err, <-told)
	stopRelaying()
	return errors.Join(err, <-relayed)
}
