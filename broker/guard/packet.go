package guard

import "bytes"

// MQTT control packet types (table 2-1).
const (
	typeConnect     = 1
	typeConnack     = 2
	typePublish     = 3
	typePuback      = 4
	typePubrel      = 6
	typePubcomp     = 7
	typeSubscribe   = 8
	typeUnsubscribe = 10
	typePingreq     = 12
	typeDisconnect  = 14
)

// checker checks the packets that follow a CONNECT on one connection.
type checker struct {
	*Config
	version byte
	aliases map[uint16]struct{} // topic aliases that have a topic
}

// checkHeader checks the first byte of a packet: type and flags (section 2.1).
func (c *checker) checkHeader(first byte) *Violation {
	kind, flags := first>>4, first&15
	switch kind {
	case typePublish:
		qos, dup := flags>>1&3, flags&8 != 0
		switch {
		case qos == 3:
			return refuse(codeMalformed, "publish: QoS 3")
		case qos == 0 && dup:
			return refuse(codeMalformed, "publish: duplicate of QoS 0")
		case qos > c.MaxQoS:
			return refuse(codeQoSUnsupported, "publish: QoS over %d", c.MaxQoS)
		}
		return nil
	case typePubrel, typeSubscribe, typeUnsubscribe:
		if flags != 2 {
			return refuse(codeMalformed, "packet type %d: bad flags", kind)
		}
		return nil
	case typeConnect:
		return refuse(codeProtocol, "connect: a second one")
	case typePuback, typePuback + 1, typePubcomp, typePingreq, typeDisconnect:
		if flags != 0 {
			return refuse(codeMalformed, "packet type %d: bad flags", kind)
		}
		return nil
	}
	return refuse(codeProtocol, "packet type %d: not for a client to send", kind)
}

// check checks the body of a packet whose header passed checkHeader.
func (c *checker) check(first byte, body []byte) *Violation {
	in := cursor{rest: body}
	switch kind := first >> 4; kind {
	case typePublish:
		return c.checkPublish(first, &in)
	case typeSubscribe, typeUnsubscribe:
		return c.checkSubscribe(kind, &in)
	case typePingreq:
		if len(body) != 0 {
			return refuse(codeMalformed, "pingreq: not empty")
		}
		return nil
	case typeDisconnect:
		return c.checkReason(kind, &in)
	default:
		if v := checkID(&in); v != nil {
			return v
		}
		return c.checkReason(kind, &in)
	}
}

// checkID reads a packet id (section 2.2.1).
func checkID(in *cursor) *Violation {
	id := in.uint16()
	if in.short {
		return refuse(codeMalformed, "packet: no packet id")
	}
	if id == 0 {
		return refuse(codeProtocol, "packet: packet id 0")
	}
	return nil
}

func (c *checker) checkPublish(first byte, in *cursor) *Violation {
	topic := in.binary()
	if in.short {
		return refuse(codeMalformed, "publish: no topic")
	}
	if first&6 != 0 { // QoS 1 or 2
		if v := checkID(in); v != nil {
			return v
		}
	}
	var props properties
	if c.version == 5 {
		var v *Violation
		if props, v = c.checkProperties(typePublish, in); v != nil {
			return v
		}
	}
	if !props.hasTopicAlias {
		return c.checkName(topic)
	}
	if props.topicAlias == 0 || props.topicAlias > c.TopicAliasMaximum {
		return refuse(codeAliasInvalid, "publish: topic alias over %d", c.TopicAliasMaximum)
	}
	if _, known := c.aliases[props.topicAlias]; len(topic) == 0 && known {
		return nil
	}
	if v := c.checkName(topic); v != nil {
		return v
	}
	if c.aliases == nil {
		c.aliases = make(map[uint16]struct{})
	}
	c.aliases[props.topicAlias] = struct{}{}
	return nil
}

// checkSubscribe checks a SUBSCRIBE or UNSUBSCRIBE (sections 3.8, 3.10).
func (c *checker) checkSubscribe(kind byte, in *cursor) *Violation {
	if v := checkID(in); v != nil {
		return v
	}
	if c.version == 5 {
		if _, v := c.checkProperties(kind, in); v != nil {
			return v
		}
	}
	if len(in.rest) == 0 {
		return refuse(codeProtocol, "subscribe: no filter")
	}
	for n := 0; len(in.rest) > 0; n++ {
		if n == c.MaxFilters {
			return refuse(codeTooLarge, "subscribe: more than %d filters", c.MaxFilters)
		}
		filter := in.binary()
		var options byte
		if kind == typeSubscribe {
			options = in.uint8()
		}
		if in.short {
			return refuse(codeMalformed, "subscribe: cut off")
		}
		if v := c.checkFilter(filter); v != nil {
			return v
		}
		if v := c.checkOptions(options, filter); v != nil {
			return v
		}
	}
	return nil
}

// checkOptions checks the subscription options (section 3.8.3.1).
func (c *checker) checkOptions(options byte, filter []byte) *Violation {
	switch {
	case options&3 == 3, c.version < 5 && options > 2, options&0xc0 != 0, options>>4&3 == 3:
		return refuse(codeMalformed, "subscribe: bad options")
	case options&4 != 0 && isShared(filter):
		return refuse(codeProtocol, "subscribe: no-local on a shared subscription")
	}
	return nil
}

// checkReason checks the optional reason code and properties that end
// acknowledgements and DISCONNECT in MQTT 5.
func (c *checker) checkReason(kind byte, in *cursor) *Violation {
	if len(in.rest) == 0 {
		return nil
	}
	if c.version < 5 {
		return refuse(codeMalformed, "packet type %d: bytes after the end", kind)
	}
	known := bytes.Contains(reasons(kind), []byte{in.uint8()})
	if !known && kind == typeDisconnect {
		return refuseSilently("disconnect: unknown reason code")
	}
	if !known {
		return refuse(codeProtocol, "packet type %d: unknown reason code", kind)
	}
	if len(in.rest) == 0 {
		return nil
	}
	if _, v := c.checkProperties(kind, in); v != nil {
		return v
	}
	if len(in.rest) > 0 {
		return refuse(codeMalformed, "packet type %d: bytes after the end", kind)
	}
	return nil
}

// reasons are the codes that a client may give in a packet of kind (table 2-6).
func reasons(kind byte) []byte {
	switch kind {
	case typeDisconnect:
		return []byte{0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99}
	case typePubrel, typePubcomp:
		return []byte{0x00, 0x92}
	default: // PUBACK, PUBREC
		return []byte{0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99}
	}
}
