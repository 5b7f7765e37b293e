package guard

// connect is what the guard keeps of a CONNECT.
type connect struct {
	version  byte // 3 = MQTT 3.1, 4 = 3.1.1, 5
	clientID string
}

// Connect flags of section 3.1.2.3.
const (
	flagReserved = 1 << iota
	flagClean
	flagWill
	_ // will QoS, two bits
	_
	flagWillRetain
	flagPassword
	flagUsername
)

// parseConnect checks the body of a CONNECT (section 3.1). The version is set,
// as far as it could be read, also when the packet is refused.
func (c *Config) parseConnect(body []byte) (connect, *Violation) {
	var con connect
	in := cursor{rest: body}
	name := string(in.binary())
	con.version = in.uint8()
	flags := in.uint8()
	in.uint16() // keep-alive: the hook caps it
	switch {
	case in.short:
		return con, refuseSilently("connect: cut off")
	case name != "MQTT" && name != "MQIsdp":
		return con, refuseSilently("connect: another protocol")
	case name == "MQIsdp" && con.version != 3, name == "MQTT" && con.version != 4 && con.version != 5:
		return con, refuse(codeVersion, "connect: unknown protocol version")
	}
	if v := c.checkFlags(con.version, flags); v != nil {
		return con, v
	}
	if con.version == 5 {
		props, v := c.checkProperties(typeConnect, &in)
		if v != nil {
			return con, v
		}
		if props.authMethod {
			return con, refuse(codeAuthMethod, "connect: no enhanced authentication here")
		}
	}
	id := in.binary()
	switch {
	case in.short, con.version < 5 && !validText(id):
		return con, refuse(codeMalformed, "connect: bad client id")
	case !validText(id):
		return con, refuse(codeClientID, "connect: bad client id")
	}
	if len(id) == 0 && con.version < 5 && flags&flagClean == 0 {
		return con, refuse(codeClientID, "connect: a session needs a client id")
	}
	con.clientID = string(id)
	return con, c.checkConnectRest(con.version, flags, &in)
}

func (c *Config) checkFlags(version, flags byte) *Violation {
	willQoS := flags >> 3 & 3
	switch {
	case flags&flagReserved != 0:
		return refuse(codeMalformed, "connect: reserved flag")
	case willQoS == 3:
		return refuseSilently("connect: will QoS 3")
	case flags&flagWill == 0 && (willQoS != 0 || flags&flagWillRetain != 0):
		return refuse(codeMalformed, "connect: will flags without a will")
	case version < 5 && flags&flagPassword != 0 && flags&flagUsername == 0:
		return refuse(codeMalformed, "connect: password without a user name")
	case willQoS > c.MaxQoS:
		return refuse(codeQoSUnsupported, "connect: will QoS over %d", c.MaxQoS)
	}
	return nil
}

// checkConnectRest checks what follows the client id.
func (c *Config) checkConnectRest(version, flags byte, in *cursor) *Violation {
	if flags&flagWill != 0 {
		if version == 5 {
			if _, v := c.checkProperties(typeWill, in); v != nil {
				return v
			}
		}
		topic := in.binary()
		in.binary()
		if in.short {
			return refuse(codeMalformed, "connect: will cut off")
		}
		if v := c.checkName(topic); v != nil {
			return v
		}
	}
	if flags&flagUsername != 0 && !validText(in.binary()) {
		return refuseSilently("connect: bad user name")
	}
	if flags&flagPassword != 0 {
		in.binary()
	}
	if in.short {
		return refuseSilently("connect: cut off")
	}
	if len(in.rest) > 0 {
		return refuse(codeMalformed, "connect: bytes after the end")
	}
	return nil
}
