package auth

import (
	"context"
	"net/netip"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// setupGroups and setupGroup are the shape of a setup code: 12 letters, 60 bits, too many to
// guess at 5 tries a minute.
const setupGroups, setupGroup = 3, 4

// NewSetupCode makes a setup code, such as 7K2M-Q9XA-04TZ, which replaces the earlier one. It
// makes a user the first owner (payloads.md 5.2), once.
func NewSetupCode(ctx context.Context, db *store.DB) (string, error) {
	var code strings.Builder
	for i, b := range random(setupGroups * setupGroup) {
		if i > 0 && i%setupGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(home.SetupCodeLetters[int(b)%len(home.SetupCodeLetters)])
	}
	err := db.Update(ctx, func(tx *store.Tx) error { return tx.PutSetupCode(code.String()) })
	return code.String(), err
}

// TryCode counts a try of the setup code, or of a join code, from an address, or returns a Throttled fault after
// too many wrong ones. The caller calls judge with the error of the try: the count stays only
// for an Invalid fault, a wrong code.
func (a *Accounts) TryCode(from netip.Addr) (judge func(error), err error) {
	undo, wait := a.codes.take(from)
	if wait > 0 {
		return nil, throttled(wait, "code: too many were wrong")
	}
	return func(err error) {
		if fault.KindOf(err) != fault.Invalid {
			undo()
		}
	}, nil
}
