package auth_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// create stores a key and returns its secret.
func create(t *testing.T, db *store.DB, key store.APIKey) (stored store.APIKey, secret string) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
		stored, secret, err = tx.CreateAPIKey(key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored, secret
}

func TestKeyOpensWhatItsScopesSay(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	keys := auth.NewKeys(db)
	for name, scopes := range map[string][]string{
		"reader": {auth.ScopeRead}, "writer": {auth.ScopeWrite}, "both": auth.Scopes(), "none": nil,
	} {
		_, secret := create(t, db, store.APIKey{Name: name, Scopes: scopes})
		for _, scope := range auth.Scopes() {
			key, err := keys.Check(t.Context(), secret, scope)
			has := false
			for _, s := range scopes {
				has = has || s == scope
			}
			switch {
			case has && (err != nil || key.Name != name):
				t.Errorf("%s for %s: %+v %v", name, scope, key, err)
			case !has && fault.KindOf(err) != fault.Forbidden:
				t.Errorf("%s for %s: %v, want forbidden", name, scope, err)
			}
		}
	}
}

func TestWrongKeyIsUnauthorized(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return now } })
	keys := auth.NewKeys(db)
	_, expired := create(t, db, store.APIKey{Name: "old", Scopes: auth.Scopes(), ExpiresAt: motion.TimeOf(now)})
	gone, revoked := create(t, db, store.APIKey{Name: "gone", Scopes: auth.Scopes()})
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.RevokeAPIKey(gone.ID) }); err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"no token": "", "made up": "sg_nothing", "expired": expired, "revoked": revoked, "with a space": revoked + " ",
	} {
		if _, err := keys.Check(t.Context(), token, auth.ScopeRead); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%s: %v, want unauthorized", name, err)
		}
	}
}

func TestBoundKeyOpensItsNetworkOnly(t *testing.T) {
	t.Parallel()
	bound := auth.Key{Network: 7}
	if err := bound.Open(7); err != nil {
		t.Errorf("own network: %v", err)
	}
	if err := bound.Open(8); fault.KindOf(err) != fault.NotFound {
		t.Errorf("foreign network: %v, want not found", err)
	}
	if err := (auth.Key{}).Open(8); err != nil {
		t.Errorf("unbound key: %v", err)
	}
}

func TestBindingComesFromTheDatabase(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	var network motion.Network
	err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
		network, err = tx.CreateNetwork(motion.Network{GuardianID: "a41f00c2d97b4e5580136c2e"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, secret := create(t, db, store.APIKey{Name: "home", Scopes: auth.Scopes(), NetworkID: network.ID})
	key, err := auth.NewKeys(db).Check(t.Context(), secret, auth.ScopeRead)
	if err != nil || key.Network != network.ID || key.ID == 0 {
		t.Errorf("key %+v, %v", key, err)
	}
}

func TestTroubleOfTheStoreIsNotTheCallersMistake(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	_, secret := create(t, db, store.APIKey{Name: "a", Scopes: auth.Scopes()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := auth.NewKeys(db).Check(ctx, secret, auth.ScopeRead); err == nil || fault.KindOf(err) != 0 {
		t.Errorf("cancelled: %v, want an error that is no fault", err)
	}
}
