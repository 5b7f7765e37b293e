// Package appliance assembles the product: its configuration, its parts, their order at start
// and stop. It knows the constructor of every part. It must not hold a rule of one.
package appliance

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"golang.org/x/sync/errgroup"

	"sensegate/api/admin"
	"sensegate/api/app"
	"sensegate/api/box"
	"sensegate/api/box/recording"
	"sensegate/api/box/staging"
	"sensegate/api/browser"
	"sensegate/api/logtail"
	"sensegate/api/mdns"
	"sensegate/api/pki"
	"sensegate/api/server"
	"sensegate/broker"
	"sensegate/broker/nodedoor"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/integration"
	"sensegate/motion/notify"
	"sensegate/motion/sensor/homeassistant"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// Appliance is the assembled product. Open makes one, Run serves and closes it.
type Appliance struct {
	config  Config
	log     *slog.Logger
	db      *store.DB
	engine  *engine.Engine
	uplinks *uplink.Set
	notify  *notify.Notifier
	sensors *integration.Service
	heard   *homeassistant.Provider // what others announce at the brokers of uplinks
	base    string                  // that links in mails begin with, once the ports are bound
	broker  *broker.Server
	nodes   *nodedoor.Door
	http    *server.Server
	core    *server.Server // nil: on http
	box     *box.Box
	admin   *admin.Server
	certs   *pki.Certificates
	names   *mdns.Responder // nil until the ports are bound
	staging *staging.Staging
	records *recording.Recorder
	parts   app.Parts
	guest   browser.Guest
	play    browser.Play

	starts     func() error // why the process could not start anew; nil: it cannot
	restarting sync.Once
	restart    chan struct{} // closed when the process is to start anew
	serving    chan struct{} // closed once it serves
}

// Open assembles an appliance on its state directory and binds its ports.
func Open(ctx context.Context, c Config, log *slog.Logger) (_ *Appliance, err error) {
	recent := logtail.New(log.Handler(), answered)
	log = slog.New(recent.Handler())
	db, err := c.openDatabase(ctx, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	c.fitConnections(openFiles(), log)
	a := &Appliance{config: c, log: log, db: db, restart: make(chan struct{}), serving: make(chan struct{})}
	if err = a.beginProvision(ctx); err != nil {
		return nil, err
	}
	a.staging = staging.New(staging.Options{DB: db, Directory: staging.Directory(c.StateDir), MinFree: int64(c.Store.MinFree), Log: log})
	a.notify, err = notify.New(db, notify.Options{Mail: c.Mail, Push: c.Push, Base: func() string { return a.base }, Log: log})
	if err != nil {
		return nil, err
	}
	a.engine, err = engine.New(ctx, db, engine.Options{
		FlushInterval: c.Store.FlushInterval, AccessToken: c.Gatekeeper.AccessToken,
		Readopt: c.Gatekeeper.Readopt == "same-address", FirstWindow: c.Gatekeeper.FirstWindow, Log: log,
		NodesNetwork:    motion.NetworkID(c.Nodes.Network),
		WithoutInsights: !c.Insights.Enabled, Relays: a.relays, Stored: a.notify.Pusher.Event,
		Built: box.ThisBuild().Time(),
	})
	if err != nil {
		return nil, err
	}
	if err = a.openCertificates(); err != nil {
		return nil, err
	}
	a.config.HTTP.Holds = a.holds
	a.openDoor()
	if a.broker, err = broker.New(a.config.MQTT, broker.Intake{Engine: a.engine, Users: a.nodes}, log); err != nil {
		return nil, err
	}
	a.engine.Introduce(outbound{a.broker, a.nodes})
	a.connectSensors()
	if err = a.assemblePeople(); err != nil {
		return nil, err
	}
	if err = a.provision(ctx); err != nil {
		return nil, err
	}
	if err = a.openUplinks(ctx); err != nil {
		return nil, err
	}
	if err := a.engine.Devices.MoveHomeAssistants(ctx, a.entities()); err != nil { // the configuration may have another prefix
		log.Warn("MQTT users of Home Assistant may not see the entities", "err", err)
	}
	a.records = recording.New(recording.Options{
		Directory: recording.Directory(c.StateDir), MinFree: int64(c.Store.MinFree), Now: a.engine.State.Now, Log: log,
		Listen: func(take recording.Take) { a.engine.Sensing.Record(take) },
	})
	a.box = box.New(box.Parts{
		Engine: a.engine, DB: db, Accounts: a.parts.Accounts, Household: a.parts.Household, Staging: a.staging, Recorder: a.records,
		Ready: a.ready, Authority: a.certs.Fingerprint, Core: a.coreHere, Ports: a.httpPorts, Reach: a.reach, Revoked: a.recheck, MinFree: int64(c.Store.MinFree), Log: log,
		Configured: a.config.Settings, Level: c.Log.InForce, Recent: recent, Secured: a.secured, Probe: a.probe, Nodes: nodes{a.nodes, a.broker}, Entities: a.entities,
		Uplinks: a.uplinks, Restart: a.askedRestart, TryProgram: a.tryProgram, Preflight: a.config.Preflight, Metrics: a.allMetrics,
	})
	if err = a.box.Told(ctx); err != nil {
		log.Warn("what came of a restore is not in the audit log yet", "err", err)
		err = nil
	}
	a.admin = admin.NewServer(a.box)
	if err = a.broker.Listen(); err != nil {
		return nil, err
	}
	if err = a.nodes.Listen(); err != nil {
		return nil, err
	}
	a.mount()
	if err = a.http.Listen(); err != nil {
		return nil, err
	}
	a.base = c.HTTP.Base(a.http.Addr())
	a.names = a.announce()
	if a.core != nil {
		if err = a.core.Listen(); err != nil {
			return nil, err
		}
	}
	return a, a.admin.Listen(c.StateDir)
}

// answered reports whether a record of the log is of a request that was answered as it should be.
// Administrators do not see these: they would tell when a household comes and goes, and leave no
// room for anything else.
func answered(r slog.Record) bool { return r.Message == "request" && r.Level <= slog.LevelInfo }

// Run serves until ctx ends. It closes the listeners first; then the engine writes what it
// holds, mails and pushes end, the uplinks disconnect, and the database is closed last. It is
// called once. It ends by itself, with an error that wraps ErrRestart, when a backup is to be
// restored, and with another one when something has failed.
func (a *Appliance) Run(ctx context.Context) error { return errors.Join(a.serve(ctx), a.db.Close()) }

// Serving is closed once the appliance serves.
func (a *Appliance) Serving() <-chan struct{} { return a.serving }

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
	linking, stopLinking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLinking()
	linked := make(chan error, 1)
	go func() { linked <- a.uplinks.Run(linking) }()

	services, running := errgroup.WithContext(ctx)
	services.Go(func() error { return a.db.Watch(running) })
	services.Go(func() error { return a.broker.Run(running) })
	services.Go(func() error { return a.nodes.Run(running) })
	services.Go(func() error { return a.sensors.Run(running) })
	services.Go(func() error { return a.parts.Household.Watch(running) })
	services.Go(func() error { return a.http.Run(running) })
	services.Go(func() error { return a.certs.Run(running) })
	services.Go(func() error { return a.names.Run(running) })
	if a.core != nil {
		services.Go(func() error { return a.core.Run(running) })
	}
	services.Go(func() error { return a.admin.Run(running) })
	services.Go(func() error { return a.db.BackUpNightly(running) })
	services.Go(func() error { return a.db.WipeDeleted(running) })
	services.Go(func() error { return a.staging.Run(running) })
	services.Go(func() error { return a.records.Run(running) })
	services.Go(func() error { return a.box.Run(running) })
	services.Go(func() error { return a.supervise(running) })
	services.Go(func() error {
		select {
		case <-running.Done():
			return nil
		case <-a.restart:
			return ErrRestart
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
	close(a.serving)
	a.sayTLS()
	err := services.Wait()
	a.parts.Accounts.Wait()
	stopWorking()
	err = errors.Join(err, <-worked)
	stopTelling()
	err = errors.Join(err, <-told)
	stopLinking()
	return errors.Join(err, <-linked)
}
