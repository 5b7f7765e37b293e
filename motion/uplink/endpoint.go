package uplink

// Endpoint returns the service of an uplink to http or https. Its ClientID and Status mean nothing.
func (u Uplink) Endpoint() (Target, error) { return u.target() }
