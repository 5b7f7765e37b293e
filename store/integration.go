package store

import (
	"crypto/sha256"
	"strings"
	"unicode"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// IntegrationUser is an MQTT user that is no device, such as a home automation
// (device-protocol.md 2). Its secret is not kept.
type IntegrationUser struct {
	Name        string      `json:"name"`
	TopicPrefix string      `json:"topic_prefix"`        // all it may use
	Discovery   string      `json:"discovery,omitempty"` // of a Home Assistant, which may use less: see motion.UserTopics
	CreatedAt   motion.Time `json:"created_at"`
	Home        home.ID     `json:"network_id,omitempty"` // the home whose owner has made it, and with which it ends; 0: the administrator has
}

// integrationUserRecord is a user with the digest of its secret.
type integrationUserRecord struct {
	IntegrationUser
	Secret digest `json:"secret"`
}

// integrationUsers is the table of integration users.
var integrationUsers = table[string, integrationUserRecord]{
	name: "integration_users", vital: true, noun: "integration user", key: keyText,
}

// CheckShown returns a Conflict when the topics below a prefix are another user's, who could feign what the
// appliance says there.
func (tx *Tx) CheckShown(prefix string) error {
	all, err := tx.IntegrationUsers()
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Discovery == "" && share(prefix, one.TopicPrefix) {
			return fault.New(fault.Conflict, "prefix: %.80q shares topics with %.80q of user %.80q: choose another", prefix, one.TopicPrefix, one.Name)
		}
	}
	return nil
}

// share reports whether topics below one beginning are below another.
func share(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// MoveHomeAssistants gives the users by which Home Assistants connect the topics where the entities are,
// and returns the names of those that had others.
func (tx *Tx) MoveHomeAssistants(to motion.UserTopics) (moved []string, err error) {
	records, err := integrationUsers.all(tx, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Discovery == "" || r.Discovery == to.Discovery && r.TopicPrefix == to.Prefix {
			continue
		}
		r.Discovery, r.TopicPrefix = to.Discovery, to.Prefix
		if err := integrationUsers.put(tx, r.Name, r); err != nil {
			return nil, err
		}
		moved = append(moved, r.Name)
	}
	return moved, nil
}

// CreateIntegrationUser stores a new user and returns it with its secret, which
// nothing can show again. A name that is taken is a Conflict, and so is a prefix
// with topics of another user; an empty name is Invalid, and so is a topic prefix that
// the broker would refuse (device-protocol.md 2) or that is likely a slip.
func (tx *Tx) CreateIntegrationUser(u IntegrationUser) (user IntegrationUser, secret string, err error) {
	secret, sum := newSecret("")
	user, err = tx.KeepIntegrationUser(u, sum)
	return user, secret, err
}

// KeepIntegrationUser is CreateIntegrationUser of one whose secret somebody else has: sum is its SHA-256.
func (tx *Tx) KeepIntegrationUser(u IntegrationUser, sum [sha256.Size]byte) (IntegrationUser, error) {
	if err := u.Validate(); err != nil {
		return u, err
	}
	_, taken, err := integrationUsers.get(tx, u.Name)
	if err != nil {
		return u, err
	}
	if taken {
		return u, fault.New(fault.Conflict, "name: %.80q is taken", u.Name)
	}
	others, err := tx.IntegrationUsers()
	if err != nil {
		return u, err
	}
	for _, one := range others {
		if u.Discovery != "" && u.Discovery == one.Discovery && u.TopicPrefix == one.TopicPrefix { // two Home Assistants see the same
			continue
		}
		for _, mine := range u.topics() {
			for _, theirs := range one.topics() {
				if share(mine, theirs) {
					return u, fault.New(fault.Conflict, "prefix: %.80q shares topics with %.80q of user %.80q: choose another, or let both programs connect as that user", mine, theirs, one.Name)
				}
			}
		}
	}
	u.CreatedAt = tx.now
	return u, integrationUsers.put(tx, u.Name, integrationUserRecord{u, sum})
}

// Validate returns an Invalid fault when a user cannot have the name or the topics.
func (u IntegrationUser) Validate() error {
	if err := checkName(u.Name); err != nil {
		return err
	}
	if u.Name == motion.UserOfDevices {
		return fault.New(fault.Invalid, "name: %q is what devices log in as: choose another", u.Name)
	}
	if err := checkTopics("prefix", u.TopicPrefix); err != nil || u.Discovery == "" {
		return err
	}
	return checkTopics("discovery", u.Discovery)
}

// topics are the beginnings of what a user may read.
func (u IntegrationUser) topics() []string {
	if u.Discovery == "" {
		return []string{u.TopicPrefix}
	}
	return []string{u.TopicPrefix, u.Discovery}
}

// checkTopics checks the beginning of a user's topics; key names it.
func checkTopics(key, prefix string) error {
	first, _, _ := strings.Cut(prefix, "/")
	if first == "" || first == "iot-2" || first[0] == '$' || strings.ContainsAny(prefix, "+#\x00") ||
		strings.TrimSpace(prefix) != prefix || strings.ContainsFunc(prefix, unicode.IsControl) ||
		strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//") {
		return fault.New(fault.Invalid, "%s: %.80q cannot be a user's; want the beginning of its topics, such as homeassistant, without + and #, a space at either end or a / without a level, and neither $... nor iot-2, which are others'", key, prefix)
	}
	return nil
}

// IntegrationUser returns a user. NotFound: there is none of that name.
func (tx *Tx) IntegrationUser(name string) (IntegrationUser, error) {
	record, err := integrationUsers.must(tx, name)
	return record.IntegrationUser, err
}

// CheckIntegrationUser returns the user with the name and secret, or an
// Unauthorized fault.
func (tx *Tx) CheckIntegrationUser(name, secret string) (IntegrationUser, error) {
	record, _, err := integrationUsers.get(tx, name)
	if err != nil {
		return IntegrationUser{}, err
	}
	if !record.Secret.matches(digestOf(secret)) {
		return IntegrationUser{}, fault.New(fault.Unauthorized, "name or secret: not valid")
	}
	return record.IntegrationUser, nil
}

// IntegrationUsers returns all users, by name.
func (tx *Tx) IntegrationUsers() ([]IntegrationUser, error) {
	records, err := integrationUsers.all(tx, nil)
	return mapped(records, err, func(r integrationUserRecord) (IntegrationUser, error) { return r.IntegrationUser, nil })
}

// DeleteIntegrationUser removes a user: its secret is not valid any more.
func (tx *Tx) DeleteIntegrationUser(name string) error {
	return integrationUsers.mustDelete(tx, name)
}

// DeleteIntegrationUsersOf removes the users that owners of a home have made, and returns their
// names. Those that the administrator has made stay.
func (tx *Tx) DeleteIntegrationUsersOf(h home.ID) ([]string, error) {
	users, err := tx.IntegrationUsers()
	if err != nil || h == 0 {
		return nil, err
	}
	var names []string
	for _, u := range users {
		if u.Home != h {
			continue
		}
		if err := tx.DeleteIntegrationUser(u.Name); err != nil {
			return nil, err
		}
		names = append(names, u.Name)
	}
	return names, nil
}
