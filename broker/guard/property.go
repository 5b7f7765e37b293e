package guard

// Property identifiers of section 2.2.2.2.
const (
	propPayloadFormat     = 1
	propMessageExpiry     = 2
	propContentType       = 3
	propResponseTopic     = 8
	propCorrelationData   = 9
	propSubscriptionID    = 11
	propSessionExpiry     = 17
	propAssignedClientID  = 18
	propServerKeepAlive   = 19
	propAuthMethod        = 21
	propAuthData          = 22
	propRequestProblem    = 23
	propWillDelay         = 24
	propRequestResponse   = 25
	propResponseInfo      = 26
	propServerReference   = 28
	propReasonString      = 31
	propReceiveMaximum    = 33
	propTopicAliasMaximum = 34
	propTopicAlias        = 35
	propMaximumQoS        = 36
	propRetainAvailable   = 37
	propUser              = 38
	propMaximumPacketSize = 39
	propWildcardAvailable = 40
	propSubIDAvailable    = 41
	propSharedAvailable   = 42
)

// typeWill stands for the will properties inside a CONNECT.
const typeWill = 0

// maxUserProperties bounds what the library allocates for one packet.
const maxUserProperties = 64

// properties are the values of a packet's properties that the guard decides on.
type properties struct {
	topicAlias    uint16
	hasTopicAlias bool
	authMethod    bool
	authData      bool
}

// checkProperties reads the property block of a packet of kind (a packet type,
// or typeWill).
func (c *Config) checkProperties(kind byte, in *cursor) (properties, *Violation) {
	var props properties
	block := cursor{rest: in.take(int(in.varint()))}
	if in.short {
		return props, refuse(codeMalformed, "properties: longer than the packet")
	}
	var seen uint64
	users := 0
	for len(block.rest) > 0 {
		id := block.varint()
		if block.short || id > propSharedAvailable {
			return props, refuse(codeMalformed, "properties: unknown")
		}
		v := c.checkValue(byte(id), &block, &props)
		switch {
		case block.short:
			return props, refuse(codeMalformed, "properties: %d is cut off", id)
		case v != nil:
			return props, v
		case !allowed(byte(id), kind):
			return props, refuse(misplaced(kind), "properties: %d does not belong to packet type %d", id, kind)
		case id == propUser:
			users++
		case seen&(1<<id) != 0:
			return props, refuse(codeProtocol, "properties: %d is there twice", id)
		}
		seen |= 1 << id
	}
	if users > maxUserProperties {
		return props, refuse(codeTooLarge, "properties: more than %d user properties", maxUserProperties)
	}
	if props.authData && !props.authMethod {
		return props, refuse(codeProtocol, "properties: authentication data without a method")
	}
	return props, nil
}

// misplaced is the code for a property that does not belong to a packet of kind.
// The standard says malformed; what brokers in the field say is what clients
// know, and differs from it except for subscriptions.
func misplaced(kind byte) byte {
	if kind == typeSubscribe || kind == typeUnsubscribe {
		return codeMalformed
	}
	return codeProtocol
}

// checkValue reads the value of property id; a value that is cut off is left to
// the caller.
func (c *Config) checkValue(id byte, in *cursor, props *properties) *Violation {
	ok := true
	switch id {
	case propPayloadFormat, propRequestProblem, propRequestResponse,
		propMaximumQoS, propRetainAvailable, propWildcardAvailable, propSubIDAvailable, propSharedAvailable:
		ok = in.uint8() <= 1
	case propMessageExpiry, propSessionExpiry, propWillDelay:
		in.uint32()
	case propMaximumPacketSize:
		ok = in.uint32() > 0
	case propTopicAliasMaximum, propServerKeepAlive:
		in.uint16()
	case propReceiveMaximum:
		ok = in.uint16() > 0
	case propTopicAlias:
		props.topicAlias, props.hasTopicAlias = in.uint16(), true
	case propSubscriptionID:
		ok = in.varint() > 0
	case propCorrelationData:
		in.binary()
	case propAuthData:
		in.binary()
		props.authData = true
	case propResponseTopic:
		if name := in.binary(); !in.short {
			return c.checkName(name)
		}
	default:
		return checkText(id, in, props)
	}
	if !ok {
		return refuse(codeProtocol, "properties: value of %d out of range", id)
	}
	return nil
}

func checkText(id byte, in *cursor, props *properties) *Violation {
	ok := true
	switch id {
	case propUser:
		ok = validText(in.binary())
	case propAuthMethod:
		props.authMethod = true
	case propContentType, propAssignedClientID, propResponseInfo, propServerReference, propReasonString:
	default:
		return refuse(codeMalformed, "properties: unknown")
	}
	if !validText(in.binary()) || !ok {
		return refuse(codeMalformed, "properties: %d is not valid UTF-8, or has control characters", id)
	}
	return nil
}

// allowed reports whether a client may send property id in a packet of kind.
// A subscription identifier in a PUBLISH is for servers only (3.3.4).
func allowed(id, kind byte) bool {
	switch id {
	case propPayloadFormat, propMessageExpiry, propContentType, propResponseTopic, propCorrelationData:
		return kind == typePublish || kind == typeWill
	case propTopicAlias:
		return kind == typePublish
	case propWillDelay:
		return kind == typeWill
	case propSubscriptionID:
		return kind == typeSubscribe
	case propSessionExpiry:
		return kind == typeConnect || kind == typeDisconnect
	case propAuthMethod, propAuthData, propRequestProblem, propRequestResponse,
		propReceiveMaximum, propTopicAliasMaximum, propMaximumPacketSize:
		return kind == typeConnect
	case propReasonString:
		return kind == typeDisconnect || kind >= typePuback && kind <= typePubcomp
	case propUser:
		return true
	}
	return false
}
