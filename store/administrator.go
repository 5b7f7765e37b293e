package store

import (
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

// PassAdministration makes a user administrator in the place of another who is one, and reports
// whether they were. It is for an appliance that is handed over with its only home.
func (tx *Tx) PassAdministration(from, to home.UserID) (bool, error) {
	is, err := tx.IsAdministrator(from)
	if err != nil || !is {
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
	if err := tx.SetAdministrator(to, true); err != nil {
		return false, err
	}
	if err := tx.SetAdministrator(from, false); err != nil {
		return false, err
	}
	return true, tx.AddAuditLine(AuditLine{Action: "administration_passed", About: next.Email,
		Who: Actor{Kind: ByAccount, UserID: from, Name: old.Email}})
}
