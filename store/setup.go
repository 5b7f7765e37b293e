package store

import (
	"slices"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// setupCodeKey is where the setup code stands in the meta bucket.
const setupCodeKey = "setup_code"

// setupCode is the code that makes the first owner.
type setupCode struct {
	Code   digest                 `json:"code"`            // of the code that can be shown; zero: none
	Served []home.UserID          `json:"served"`          // who has shown one
	Shown  map[home.UserID]digest `json:"shown,omitempty"` // of the code that each of them has shown; records of before have none
}

// PutSetupCode makes code the only one that can be shown; it is kept as a digest.
func (tx *Tx) PutSetupCode(code string) error {
	held, err := tx.setupCode()
	if err != nil {
		return err
	}
	held.Code = digestOf(home.SetupCode(code))
	return tx.putMeta(setupCodeKey, held)
}

// CheckSetupCode returns nil when code can be shown, and an Invalid fault, code wrong_setup_code,
// otherwise.
func (tx *Tx) CheckSetupCode(code string) error {
	held, err := tx.setupCode()
	if err != nil {
		return err
	}
	if !held.Code.matches(digestOf(home.SetupCode(code))) {
		return &fault.Error{Kind: fault.Invalid, Code: "wrong_setup_code", Message: "setup_code: is not valid, or was used; sensegate setup-code shows a new one"}
	}
	return nil
}

// RedeemSetupCode accepts the setup code from a user, once: nobody else can show it
// afterwards. The user may show it again, since an account and its network are made in two
// steps. Where nobody looks after the appliance yet, they do from now on. Anything else is an Invalid fault, also from a user who need not show a code.
func (tx *Tx) RedeemSetupCode(code string, user home.UserID) error {
	held, err := tx.setupCode()
	if err != nil {
		return err
	}
	sent, served := digestOf(home.SetupCode(code)), slices.Contains(held.Served, user)
	if shown, kept := held.Shown[user]; served && (!kept || shown.matches(sent)) {
		return nil
	}
	if err := tx.CheckSetupCode(code); err != nil {
		return err
	}
	if !served {
		held.Served = append(held.Served, user)
	}
	if held.Shown == nil {
		held.Shown = map[home.UserID]digest{}
	}
	held.Code, held.Shown[user] = digest{}, sent
	if err := tx.putMeta(setupCodeKey, held); err != nil {
		return err
	}
	return tx.firstAdministrator(user)
}

// HasSetupCode reports whether the user has shown a setup code, or need not because the
// administrator has made the account.
func (tx *Tx) HasSetupCode(user home.UserID) (bool, error) {
	held, err := tx.setupCode()
	if err != nil || slices.Contains(held.Served, user) {
		return err == nil, err
	}
	r, _, err := users.get(tx, user)
	return r.Trusted, err
}

// TrustUser notes that the administrator has made the account of a user.
func (tx *Tx) TrustUser(user home.UserID) error {
	return users.change(tx, user, func(r *userRecord) { r.Trusted = true })
}

// EndSetupCode makes the setup code void and forgets who has shown one: to be called
// when the appliance has got its owner.
func (tx *Tx) EndSetupCode() error { return tx.putMeta(setupCodeKey, setupCode{}) }

func (tx *Tx) setupCode() (held setupCode, err error) {
	err = tx.getMeta(setupCodeKey, &held)
	return held, err
}
