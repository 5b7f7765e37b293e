package auth_test

import (
	"testing"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
	"sensegate/store"
)

func TestIdentityIsLinkedAndUnlinked(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	first, second := auth.User{ID: o.person(email).ID}, auth.User{ID: o.person("second@example.com").ID}
	token := id.sign(person())
	_, err := p.Link(t.Context(), first, "other", token)
	o.wantKind(err, fault.NotFound)
	_, err = p.Link(t.Context(), first, "idp_a", token+"A")
	o.wantKind(err, fault.Unauthorized)
	for range 2 { // again is no mistake
		list, err := p.Link(t.Context(), first, "idp_a", token)
		if err != nil || len(list) != 1 || list[0].Provider == nil || *list[0].Provider != "idp_a" {
			t.Fatalf("%+v %v", list, err)
		}
	}
	if mails := o.mailed(); len(mails) != 1 || mails[0].Kind != notify.IdentityLinked || mails[0].To != email {
		t.Errorf("mails %+v", mails)
	}
	_, err = p.Link(t.Context(), second, "idp_a", token)
	o.wantCode(err, fault.Conflict, "identity_taken")
	if tokens, err := o.sso(p, token); err != nil || tokens.User.ID != first.ID {
		t.Errorf("%+v %v", tokens.User, err)
	}
	list, err := p.Linked(t.Context(), first.ID)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	o.wantKind(p.Unlink(t.Context(), second, list[0].ID), fault.NotFound)
	if err := p.Unlink(t.Context(), first, list[0].ID); err != nil {
		t.Error(err)
	}
	if _, err = p.Link(t.Context(), second, "idp_a", token); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

func TestUnlinkingEndsOtherSessions(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	o.person(email)
	own := o.login(true)
	who, token := o.caller(own, 1), id.sign(person())
	list, err := p.Link(t.Context(), who, "idp_a", token)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := o.sso(p, token)
	if err != nil {
		t.Fatal(err)
	}
	phones := map[string]string{"own": who.Session, "theirs": o.caller(theirs, 2).Session, "of before": "a session that has ended"}
	err = o.db.Update(t.Context(), func(tx *store.Tx) error {
		for token, session := range phones {
			if _, err := tx.RegisterMobile(store.MobileRegistration{User: who.ID, Token: token, Session: session}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o.wantKind(p.Unlink(t.Context(), who, "unknown"), fault.NotFound)
	if !o.valid(theirs.Token) {
		t.Error("a session has ended although nothing was unlinked")
	}
	told := o.ended.Load()
	if err := p.Unlink(t.Context(), who, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if !o.valid(own.Token) || o.valid(theirs.Token) {
		t.Errorf("own session valid: %t, the provider's: %t", o.valid(own.Token), o.valid(theirs.Token))
	}
	if o.ended.Load() == told {
		t.Error("live connections are not looked at again")
	}
	err = o.db.View(t.Context(), func(tx *store.Tx) error {
		left, err := tx.MobilesOfUser(who.ID)
		if len(left) != 1 || left[0].Token != "own" {
			t.Errorf("phones %+v", left)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLastWayInIsNotUnlinked(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	tokens, err := o.sso(p, id.sign(person()))
	if err != nil {
		t.Fatal(err)
	}
	who := o.caller(tokens, 1)
	list, err := p.Linked(t.Context(), who.ID)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	o.wantCode(p.Unlink(t.Context(), who, list[0].ID), fault.Conflict, "last_login")
	if _, err := o.SetPassword(t.Context(), "jane@example.com", password); err != nil {
		t.Fatal(err)
	}
	if err := p.Unlink(t.Context(), who, list[0].ID); err != nil {
		t.Error(err)
	}
}

func TestResetUnlinksIdentitiesAndAChangeDoesNot(t *testing.T) {
	t.Parallel()
	o, id := newOffice(t), newIDP(t)
	p := o.providers(t.TempDir(), id.config())
	o.person(email)
	who := o.caller(o.login(true), 1)
	if _, err := p.Link(t.Context(), who, "idp_a", id.sign(person())); err != nil {
		t.Fatal(err)
	}
	next := "battery staple"
	if _, err := o.Change(t.Context(), who, auth.Changes{Password: &next, Current: password}); err != nil {
		t.Fatal(err)
	}
	if list, err := p.Linked(t.Context(), who.ID); err != nil || len(list) != 1 {
		t.Errorf("after a change: %+v %v", list, err)
	}
	o.mailed()
	if err := o.SendReset(t.Context(), email, at(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Reset(t.Context(), o.tokenMailed(notify.Reset, email), "third pass phrase", at(1)); err != nil {
		t.Fatal(err)
	}
	if list, err := p.Linked(t.Context(), who.ID); err != nil || len(list) != 0 {
		t.Errorf("after a reset: %+v %v", list, err)
	}
}
