package store

import (
	"sensegate/motion"
)

// provisionedKey is where it stands in the meta bucket that the appliance was provisioned.
const provisionedKey = "provisioned"

// Provisioned says when the appliance was provisioned, and by which file.
type Provisioned struct {
	At     motion.Time `json:"at"`     // 0: it was not
	SHA256 digest      `json:"sha256"` // of the file
}

// Provisioned returns whether and when the appliance was provisioned.
func (tx *Tx) Provisioned() (p Provisioned, err error) {
	err = tx.getMeta(provisionedKey, &p)
	return p, err
}

// SetProvisioned notes that the appliance is provisioned, by a file with a SHA-256: it never is again.
func (tx *Tx) SetProvisioned(sum [32]byte) error {
	return tx.putMeta(provisionedKey, Provisioned{At: tx.now, SHA256: sum})
}

// Unused reports whether nobody has used the appliance yet: there is no account, network, API key, MQTT
// user and uplink.
func (tx *Tx) Unused() bool {
	for _, bucket := range []string{users.name, networks.name, apiKeys.name, integrationUsers.name, uplinks.name} {
		if countKeys(tx, bucket) > 0 {
			return false
		}
	}
	return true
}
