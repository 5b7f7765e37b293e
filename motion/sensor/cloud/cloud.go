package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/hook"
	"sensegate/motion/sensor"
)

// Name is the name of the provider in the configuration.
const Name = "cloud"

const (
	feedWait  = 25 * time.Second // how long the feed waits for new entries
	feedLimit = 500              // entries per answer
	maxCursor = 256              // bytes
)

// How long a list of things, or its failure, is cached, because many people may look at once.
const (
	freshFor = 2 * time.Second
	awayFor  = 5 * time.Second
)

// Cloud is the provider. Create it with New.
type Cloud struct {
	url, key string
	client   *http.Client
	log      *slog.Logger
	wait     hook.Backoff // between tries
	pause    hook.Backoff // between failed calls of the feed

	mu    sync.Mutex
	lists map[string]list // by user thing name
}

// list is the result of a call for an account's things.
type list struct {
	found []sensor.Found
	err   error
	until time.Time
}

var _ sensor.Provider = (*Cloud)(nil)

// New returns the provider for the cloud of a valid configuration that has a url.
func New(c Config, log *slog.Logger) *Cloud {
	client := hook.Client()
	client.Timeout = 0 // each call has its own time-out
	return &Cloud{
		url: strings.TrimSuffix(c.URL, "/"), key: c.Key, client: client, log: log.With("sensors", Name),
		wait:  hook.Backoff{First: 200 * time.Millisecond, Most: time.Second},
		pause: hook.Backoff{First: time.Second, Most: time.Minute},
		lists: map[string]list{},
	}
}

// Single returns false: each household has its own account.
func (c *Cloud) Single() (motion.NetworkID, bool) { return 0, false }

func accountPath(user string) string { return "/v1/accounts/" + url.PathEscape(user) }

func thingPath(a sensor.Account, thing string) string {
	return accountPath(a.UserThingName) + "/things/" + url.PathEscape(thing)
}

// CreateAccount creates an account.
func (c *Cloud) CreateAccount(ctx context.Context, userThingName string) (sensor.Account, error) {
	return sensor.Account{UserThingName: userThingName}, c.call(ctx, http.MethodPut, accountPath(userThingName), struct{}{}, nil)
}

// DeleteAccount deletes an account with the hardware that belongs to it.
func (c *Cloud) DeleteAccount(ctx context.Context, a sensor.Account) error {
	defer c.stale(a.UserThingName)
	return gone(c.call(ctx, http.MethodDelete, accountPath(a.UserThingName), nil, nil))
}

// gone treats a thing that does not exist as deleted.
func gone(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// ListDevices returns the things of an account, at most two seconds old.
func (c *Cloud) ListDevices(ctx context.Context, a sensor.Account) ([]sensor.Found, error) {
	now := time.Now()
	c.mu.Lock()
	known, ok := c.lists[a.UserThingName]
	c.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.found, known.err
	}
	var answer List
	err := c.call(ctx, http.MethodGet, accountPath(a.UserThingName)+"/things", nil, &answer)
	fresh := list{found: answer.found(a.UserThingName), err: err, until: now.Add(freshFor)}
	if err != nil {
		fresh.found, fresh.until = nil, time.Now().Add(awayFor)
	}
	c.mu.Lock()
	c.lists[a.UserThingName] = fresh
	c.mu.Unlock()
	return fresh.found, err
}

// stale drops the cached list of an account.
func (c *Cloud) stale(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.lists, account)
}

// Pair puts a hub into pairing mode.
func (c *Cloud) Pair(ctx context.Context, a sensor.Account, hub string, d time.Duration) error {
	defer c.stale(a.UserThingName)
	return c.call(ctx, http.MethodPost, thingPath(a, hub)+"/pair", Pairing{Timeout: int((d + time.Second - 1) / time.Second)}, nil)
}

// UpdateConfig sends the settings of a thing to the cloud.
func (c *Cloud) UpdateConfig(ctx context.Context, a sensor.Account, _, after sensor.Device) error {
	defer c.stale(a.UserThingName)
	return c.call(ctx, http.MethodPatch, thingPath(a, after.ThingName), Settings{
		Notify: after.Config.Notify, FriendlyName: after.Config.FriendlyName, Location: after.Config.Location,
		Purpose: after.Purpose, TemperatureDelta: after.Config.TemperatureDelta, HumidityDelta: after.Config.HumidityDelta,
	}, nil)
}

// Remove removes a thing, and with a hub its sensors.
func (c *Cloud) Remove(ctx context.Context, a sensor.Account, d sensor.Device) error {
	defer c.stale(a.UserThingName)
	return gone(c.call(ctx, http.MethodDelete, thingPath(a, d.ThingName), nil, nil))
}

// Run follows the feed until ctx ends. It requests again what could not be stored.
func (c *Cloud) Run(ctx context.Context, host sensor.Host) error {
	defer c.client.CloseIdleConnections()
	var cursor *string // nil: not loaded yet
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		next, err := c.next(ctx, host, cursor)
		cursor = next
		switch {
		case err != nil:
			failures++
			c.log.Warn("feed of the sensor cloud failed", "failures", failures, "err", err)
		case time.Since(began) >= time.Second:
			failures = 0
			continue
		default:
			failures = 0 // pause, because the cloud answers at once
		}
		select {
		case <-time.After(c.pause.After(failures)):
		case <-ctx.Done():
		}
	}
	return nil
}

// next follows the feed by one step from a cursor, or from the stored one if cursor is nil.
func (c *Cloud) next(ctx context.Context, host sensor.Host, cursor *string) (*string, error) {
	if cursor == nil {
		kept, err := host.Cursor(ctx)
		if err != nil {
			return nil, err
		}
		cursor = &kept
	}
	next, err := c.follow(ctx, host, *cursor)
	return &next, err
}

// follow delivers the entries after a cursor and returns the next cursor, or "" if the cloud
// no longer knows the cursor.
func (c *Cloud) follow(ctx context.Context, host sensor.Host, cursor string) (string, error) {
	accounts, err := host.Accounts(ctx)
	if err != nil || len(accounts) == 0 {
		return cursor, err // without accounts there is nothing to ask for
	}
	asked, cancel := context.WithTimeout(ctx, feedWait+callLimit)
	defer cancel()
	var feed Feed
	path := fmt.Sprintf("/v1/feed?after=%s&wait=%d&limit=%d", url.QueryEscape(cursor), int(feedWait/time.Second), feedLimit)
	_, _, err = c.try(asked, http.MethodGet, path, nil, &feed)
	if ctx.Err() != nil {
		return cursor, nil
	}
	switch {
	case errors.Is(err, errGone):
		return "", nil
	case err != nil:
		return cursor, err
	case len(feed.Cursor) > maxCursor:
		return cursor, fmt.Errorf("follow the feed: its cursor has %d bytes", len(feed.Cursor))
	}
	batch := feed.batch()
	if cursor == "" { // earlier readings are only in the lists
		batch.Changed = nil
		for _, a := range accounts {
			batch.Changed = append(batch.Changed, a.UserThingName)
		}
	}
	for _, account := range batch.Changed {
		c.stale(account)
	}
	if err := host.Deliver(ctx, batch); err != nil {
		return cursor, err
	}
	return batch.Cursor, nil
}
