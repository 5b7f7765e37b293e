package store

import (
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Bounds of the outbox: of what is beyond them the oldest of a kind goes.
const (
	mailLimit   = 1000                // mails in all
	mailsOfOne  = 16                  // mails of one kind to one address
	mailKeeping = 30 * 24 * time.Hour // how long a mail is kept
)

// Mail is a message to a person, kept to be read and sent
// (payloads.md 6 no. 8). The link stands apart from the text, because it is a secret that is
// forgotten when it has expired.
type Mail struct {
	ID        uint64       `json:"id"`
	Kind      string       `json:"kind"`
	UserID    home.UserID  `json:"user_id"`    // whose account it is about; 0: nobody's yet
	HomeID    home.ID      `json:"network_id"` // of the home that invites; 0: none
	Address   string       `json:"address"`
	Subject   string       `json:"subject"`
	Text      string       `json:"text"` // without the link
	Link      string       `json:"link"` // "": it has none, or it has expired
	ExpiresAt motion.Stamp `json:"expires_at"`
	CreatedAt motion.Stamp `json:"created_at"`
	SentAt    motion.Stamp `json:"sent_at"`  // 0: not sent
	Attempts  int          `json:"attempts"` // tries to send it
	DueAt     motion.Stamp `json:"due_at"`   // when it is to be tried next; 0: not
	LastError string       `json:"last_error"`
}

// Entrusted reports whether a mail is a mail server's alone: it took it at the first
// try, or is still to be tried for the first time.
func (m Mail) Entrusted() bool {
	return m.SentAt != 0 && m.Attempts == 1 || m.DueAt != 0 && m.Attempts == 0
}

// mails is the table of mails, the outbox.
var mails = table[uint64, Mail]{
	name: "mails", noun: "mail", grows: true, key: key64,
	indexes: []index[Mail]{
		{
			name: "mails_by_address", noun: "address",
			keys: func(m Mail) [][]byte { return [][]byte{mailAddressKey(m.Address)} },
		},
		{
			name: "mails_by_user", noun: "user",
			keys: func(m Mail) [][]byte { return [][]byte{unlessZero(m.UserID, keyUser)} },
		},
		{
			name: "mails_by_home", noun: "network",
			keys: func(m Mail) [][]byte { return [][]byte{unlessZero(m.HomeID, key32)} },
		},
		{
			name: "mails_by_due", noun: "time",
			keys: func(m Mail) [][]byte { return [][]byte{unlessZero(uint64(m.DueAt), key64)} },
		},
	},
}

// mailAddressKey returns a digest of an address, in any case: of fixed length,
// because the key of a mail follows it.
func mailAddressKey(address string) []byte {
	sum := digestOf(home.EmailKey(address))
	return sum[:]
}

// AddMail stores a mail under the next id and returns it, with CreatedAt set to now.
// Of more than 16 of its kind to one address the oldest go; of more than 1,000 in all the
// oldest of the kind with the most. So a stranger who asks for reset mails loses nobody's
// invitation.
func (tx *Tx) AddMail(m Mail) (Mail, error) {
	sequence, err := tx.bucket(mails.name).NextSequence()
	if err != nil {
		return m, err
	}
	m.ID, m.CreatedAt = sequence, tx.now.Stamp()
	same, err := mails.allBy(tx, "mails_by_address", mailAddressKey(m.Address))
	if err != nil {
		return m, err
	}
	same = slices.DeleteFunc(same, func(other Mail) bool { return other.Kind != m.Kind })
	if err := tx.deleteMails(same[:max(0, len(same)-mailsOfOne+1)], nil); err != nil {
		return m, err
	}
	if err := tx.deleteMails(tx.oldestMails(mailLimit-1), nil); err != nil {
		return m, err
	}
	return m, mails.put(tx, m.ID, m)
}

// oldestMails returns the mails that go so that at most so many stay.
func (tx *Tx) oldestMails(most int) (old []Mail) {
	count := countKeys(tx, mails.name)
	if count <= most {
		return nil
	}
	byKind := map[string][]Mail{}
	cursor := tx.bucket(mails.name).Cursor()
	for key, data := cursor.First(); key != nil; key, data = cursor.Next() {
		if m, ok := mails.readable(tx, key, data); ok {
			byKind[m.Kind] = append(byKind[m.Kind], m)
		}
	}
	for ; count > most; count-- {
		var fullest []Mail
		for _, list := range byKind {
			if len(list) > len(fullest) || len(list) == len(fullest) && len(list) > 0 && list[0].ID < fullest[0].ID {
				fullest = list
			}
		}
		if len(fullest) == 0 {
			break
		}
		old, byKind[fullest[0].Kind] = append(old, fullest[0]), fullest[1:]
	}
	return old
}

// PutMail stores m over the mail with its id, as given.
func (tx *Tx) PutMail(m Mail) error {
	return mails.replace(tx, m.ID, m)
}

// Mail returns the mail with the id, without a link that has expired.
func (tx *Tx) Mail(id uint64) (Mail, error) {
	m, err := mails.must(tx, id)
	return tx.withoutExpired(m), err
}

// Mails returns all mails, the oldest first, without links that have expired.
func (tx *Tx) Mails() ([]Mail, error) {
	list, err := mails.all(tx, nil)
	for i := range list {
		list[i] = tx.withoutExpired(list[i])
	}
	return list, err
}

// StoredMail returns the mail with the id, its link even when that has expired, and whether
// it is there.
func (tx *Tx) StoredMail(id uint64) (Mail, bool, error) { return mails.get(tx, id) }

// MailsDue returns the mails that are to be sent by now, the longest due first, and
// how many wait in all.
func (tx *Tx) MailsDue() (due []Mail, waiting int, err error) {
	cursor := tx.bucket("mails_by_due").Cursor()
	limit := string(key64(uint64(tx.now.Stamp()) + 1))
	for key, primary := cursor.First(); key != nil; key, primary = cursor.Next() {
		waiting++
		if string(key) >= limit {
			continue
		}
		m, ok, err := mails.indexed(tx, "mails_by_due", key, primary)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			due = append(due, tx.withoutExpired(m))
		}
	}
	return due, waiting, nil
}

// SweepMails removes mails of more than 30 days ago, and from the others the links
// that have expired.
func (tx *Tx) SweepMails() error {
	list, err := mails.all(tx, nil)
	return each(list, err, func(m Mail) error {
		if tx.now.Stamp().Since(m.CreatedAt) > mailKeeping {
			return mails.delete(tx, m.ID)
		}
		return mails.put(tx, m.ID, tx.withoutExpired(m))
	})
}

// withoutExpired returns a mail without its link when that has expired.
func (tx *Tx) withoutExpired(m Mail) Mail {
	if m.ExpiresAt != 0 && m.ExpiresAt <= tx.now.Stamp() {
		m.Link = ""
	}
	return m
}

// DeleteMail removes a mail.
func (tx *Tx) DeleteMail(id uint64) error {
	return mails.mustDelete(tx, id)
}

// DeleteMailAndWipe removes a mail, and soon after its bytes from the file (DB.WipeDeleted);
// those of a mail that DeleteMail removes stay until the file needs their place.
func (tx *Tx) DeleteMailAndWipe(id uint64) error {
	if err := tx.DeleteMail(id); err != nil {
		return err
	}
	return tx.dueToWipe(false)
}

// DeleteMailsOfInvitation removes the mails with which a home invited an address.
func (tx *Tx) DeleteMailsOfInvitation(h home.ID, address string) error {
	list, err := mails.allBy(tx, "mails_by_home", key32(h))
	return each(list, err, func(m Mail) error {
		if home.EmailKey(m.Address) != home.EmailKey(address) {
			return nil
		}
		return tx.DeleteMail(m.ID)
	})
}

// deleteMailsBy removes the mails whose key in an index starts with prefix.
func (tx *Tx) deleteMailsBy(index string, prefix []byte) error {
	return tx.deleteMails(mails.allBy(tx, index, prefix))
}

// deleteMails removes a list of mails. err is the error of reading the list.
func (tx *Tx) deleteMails(list []Mail, err error) error {
	return each(list, err, func(m Mail) error { return mails.delete(tx, m.ID) })
}
