package store

import (
	"cmp"
	"strconv"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// IsAdministrator reports whether a user looks after the appliance.
func (tx *Tx) IsAdministrator(id home.UserID) (bool, error) {
	r, _, err := users.get(tx, id)
	return r.Administrator, err
}

// Administrators returns the users who look after the appliance.
func (tx *Tx) Administrators() ([]home.UserID, error) {
	records, err := users.all(tx, nil)
	var list []home.UserID
	for _, r := range records {
		if r.Administrator {
			list = append(list, r.ID)
		}
	}
	return list, err
}

// SetAdministrator notes whether a user looks after the appliance. The last one is not to be
// removed: a Conflict fault with the code last_administrator.
func (tx *Tx) SetAdministrator(id home.UserID, is bool) error {
	if !is {
		if err := tx.CheckLastAdministrator(id); err != nil {
			return err
		}
	}
	return users.change(tx, id, func(r *userRecord) { r.Administrator = is })
}

// CheckLastAdministrator returns a Conflict fault with the code last_administrator when a user alone
// looks after the appliance.
func (tx *Tx) CheckLastAdministrator(id home.UserID) error {
	list, err := tx.Administrators()
	if err == nil && len(list) == 1 && list[0] == id {
		err = &fault.Error{Kind: fault.Conflict, Code: "last_administrator",
			Message: "administrator: nobody else is one; make somebody else administrator first"}
	}
	return err
}

// firstAdministrator makes a user who has shown the setup code the administrator, unless there is one.
func (tx *Tx) firstAdministrator(id home.UserID) error {
	list, err := tx.Administrators()
	if err != nil || len(list) > 0 {
		return err
	}
	u, err := tx.User(id)
	if err != nil {
		return err
	}
	if err := tx.SetAdministrator(id, true); err != nil {
		return err
	}
	return tx.AddAuditLine(AuditLine{Action: "administrator_made", About: u.Email,
		Who: Actor{Kind: ByBox}, Details: map[string]string{"by": "setup_code"}})
}

// PassAdministration makes a user the only administrator of an appliance that has some, on behalf of
// another, and reports whether it has. It is for an appliance that is handed over with its only home:
// API keys and the setup code that were made before end too. details stand in the line of the audit
// log.
func (tx *Tx) PassAdministration(from, to home.UserID, details map[string]string) (bool, error) {
	former, err := tx.Administrators()
	if err != nil || len(former) == 0 {
		return false, err
	}
	old, err := tx.User(from)
	if err != nil {
		return false, err
	}
	next, err := tx.User(to)
	if err != nil {
		return false, err
	}
	if err := cmp.Or(tx.SetAdministrator(to, true), tx.EndSetupCode()); err != nil {
		return false, err
	}
	ended := 0
	if err := each(former, nil, func(id home.UserID) error {
		if id == to {
			return nil
		}
		ended++
		return tx.SetAdministrator(id, false)
	}); err != nil {
		return false, err
	}
	keys, err := tx.APIKeys()
	if err := each(keys, err, func(k APIKey) error { return tx.RevokeAPIKey(k.ID) }); err != nil {
		return false, err
	}
	details["keys_ended"], details["administrators_ended"] = strconv.Itoa(len(keys)), strconv.Itoa(ended)
	return true, tx.AddAuditLine(AuditLine{Action: "administration_passed", About: next.Email,
		Who: Actor{Kind: ByAccount, UserID: from, Name: old.Email}, Details: details})
}
