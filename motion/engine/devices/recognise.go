package devices

// recognised reports whether the post comes from where the adopted device is, or was
// last. While it is connected that is the address of its live session. Otherwise its
// MAC decides where it is known of both, so that neither a changed lease nor a reused
// address misleads; else the address of its last session does.
func (p *post) recognised() bool {
	if !p.options.Readopt {
		return false
	}
	compared := !p.c.MAC.IsZero() && !p.device.MAC.IsZero()
	if compared && p.c.MAC != p.device.MAC {
		return false
	}
	if from, live := p.state.LiveFrom(p.key); live {
		return from == p.c.Address
	}
	return compared || p.c.Address.IsValid() && p.state.LastAddress(p.device) == p.c.Address.String()
}
