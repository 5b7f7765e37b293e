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

// Name is what the provider is called in the configuration.
const Name = "cloud"

const (
	feedWait  = 25 * time.Second // that the feed waits for something to tell
	feedLimit = 500              // entries of one answer
	maxCursor = 256              // bytes
)

// How long a list of things is taken as it was, and so is that there was none: many
// people may look at once.
const (
	freshFor = 2 * time.Second
	awayFor  = 5 * time.Second
)

// Cloud is the provider. Make it with New.
type Cloud struct {
	url, key string
	client   *http.Client
	log      *slog.Logger
	wait     hook.Backoff // between tries
	pause    hook.Backoff // between calls of the feed that failed

	mu    sync.Mutex
	lists map[string]list // by user thing name
}

// list is what a call for an account's things has brought.
type list struct {
	found []sensor.Found
	err   error
	until time.Time
}

var _ sensor.Provider = (*Cloud)(nil)

// New returns the provider for the cloud of a valid configuration that has a url.
func New(c Config, log *slog.Logger) *Cloud {
	client := hook.Client()
	client.Timeout = 0 // each call has its own
	return &Cloud{
		url: strings.TrimSuffix(c.URL, "/"), key: c.Key, client: client, log: log.With("sensors", Name),
		wait:  hook.Backoff{First: 200 * time.Millisecond, Most: time.Second},
		pause: hook.Backoff{First: time.Second, Most: time.Minute},
		lists: map[string]list{},
	}
}

// Single is false: each household has an account.
func (c *Cloud) Single() (motion.NetworkID, bool) { return 0, false }

func accountPath(user string) string { return "/v1/accounts/" + url.PathEscape(user) }

func thingPath(a sensor.Account, thing string) string {
	return accountPath(a.UserThingName) + "/things/" + url.PathEscape(thing)
}

// CreateAccount makes an account.
func (c *Cloud) CreateAccount(ctx context.Context, userThingName string) (sensor.Account, error) {
	return sensor.Account{UserThingName: userThingName}, c.call(ctx, http.MethodPut, accountPath(userThingName), struct{}{}, nil)
}

// DeleteAccount deletes an account with the hardware that is tied to it.
func (c *Cloud) DeleteAccount(ctx context.Context, a sensor.Account) error {
	defer c.stale(a.UserThingName)
	return gone(c.call(ctx, http.MethodDelete, accountPath(a.UserThingName), nil, nil))
}

// gone takes what is not there for deleted.
func gone(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// ListDevices returns the things of an account as the cloud knows them, or knew them
// two seconds ago.
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

// stale forgets the list of an account.
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

// UpdateConfig tells the cloud what was set of a thing.
func (c *Cloud) UpdateConfig(ctx context.Context, a sensor.Account, _, after sensor.Device) error {
	defer c.stale(a.UserThingName)
	return c.call(ctx, http.MethodPatch, thingPath(a, after.ThingName), Settings{
		Notify: after.Config.Notify, FriendlyName: after.Config.FriendlyName, Location: after.Config.Location,
		Purpose: after.Purpose, TemperatureDelta: after.Config.TemperatureDelta, HumidityDelta: after.Config.HumidityDelta,
	}, nil)
}

// Remove removes a thing; with a hub its sensors go.
func (c *Cloud) Remove(ctx context.Context, a sensor.Account, d sensor.Device) error {
	defer c.stale(a.UserThingName)
	return gone(c.call(ctx, http.MethodDelete, thingPath(a, d.ThingName), nil, nil))
}

// Run follows the feed until ctx ends. What could not be stored is asked for again.
func (c *Cloud) Run(ctx context.Context, host sensor.Host) error {
	defer c.client.CloseIdleConnections()
	var cursor *string // nil: not read yet
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		next, err := c.next(ctx, host, cursor)
		cursor = next
		switch {
		case err != nil:
			failures++
			c.log.Warn("sensor cloud not followed", "failures", failures, "err", err)
		case time.Since(began) >= time.Second:
			failures = 0
			continue
		default:
			failures = 0 // one that answers at once is not asked all the time
		}
		select {
		case <-time.After(c.pause.After(failures)):
		case <-ctx.Done():
		}
	}
	return nil
}

// next follows the feed one step from a cursor, or from the one that is kept.
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

// follow delivers what comes after a cursor and returns the next one, "" when the cloud
// does not know the cursor any more.
func (c *Cloud) follow(ctx context.Context, host sensor.Host, cursor string) (string, error) {
	accounts, err := host.Accounts(ctx)
	if err != nil || len(accounts) == 0 {
		return cursor, err // nothing to ask for
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
	if cursor == "" { // what was told before is nowhere but in the lists
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
