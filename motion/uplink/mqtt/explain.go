package mqtt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/gorilla/websocket"

	"sensegate/motion/uplink"
)

// How far a connection came.
const (
	reaching = uplink.Reach   // TCP, TLS and the websocket
	greeting = uplink.Login   // CONNECT is sent
	working  = uplink.Publish // it is accepted
)

var (
	errNoBroker = errors.New("what answers does not speak MQTT")
	errTLSPort  = errors.New("what answers wants TLS")
	errNoAnswer = errors.New("no answer to a packet")
	errSilent   = errors.New("no sign of life")
	errAsked    = errors.New("it had asked for a client certificate") // with TLS 1.3 the alert can be lost
)

// refusal is the return code with which a broker refuses a connection.
type refusal byte

func (r refusal) Error() string { return packets.ConnackReturnCodes[byte(r)] }

// handshakeError is the answer of a server that opens no websocket.
type handshakeError struct{ status string }

func (e *handshakeError) Error() string { return "websocket refused: " + e.status }

// explained returns an error of a connection in words, and ctx's own when that has ended.
func explained(ctx context.Context, err error, o uplink.Target, at uplink.Step) error {
	var told *uplink.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &told):
		return told
	}
	why := words(err, o, at)
	return &uplink.Failure{Code: why.code, Text: why.text, Step: at, Slow: why.slow, Closed: at == working && isEnd(err), Err: err}
}

// reason says what a failure means and what to do about it.
type reason struct {
	code string // stable, for programs; "": it has none
	text string
	slow bool // trying again soon would not help
}

// words returns the reason of a failure.
func words(err error, o uplink.Target, at uplink.Step) reason {
	host := o.URL.Host
	for _, explain := range []func(error, uplink.Target) reason{ofRefusal, ofCertificate, ofAlert, ofAddress} {
		if why := explain(err, o); why.text != "" {
			return why
		}
	}
	if errors.Is(err, errAsked) {
		return ofClient(o)
	}
	var record tls.RecordHeaderError
	var handshake *handshakeError
	isTLS := o.URL.Scheme == "mqtts" || o.URL.Scheme == "wss"
	switch ended := isEnd(err); {
	case errors.As(err, &record):
		return reason{"no_tls", host + " does not speak TLS: use the port for TLS (often 8883), or mqtt:// if the connection needs no protection", false}
	case errors.As(err, &handshake):
		return reason{"no_websocket", fmt.Sprintf("%s opens no websocket (%s): check the path in the url, often /mqtt", host, handshake.status), false}
	case errors.Is(err, errTLSPort):
		return reason{"tls", host + " wants TLS on this port: use mqtts:// (or wss://), or its port without TLS (often 1883)", false}
	case errors.Is(err, errNoBroker):
		return reason{"no_broker", "what answers at " + host + " is not an MQTT broker: check host and port", false}
	case errors.Is(err, errNoAnswer):
		return reason{"not_acknowledged", fmt.Sprintf("the broker at %s did not acknowledge a message for %s: it is overloaded, or this user may not publish there", host, o.Answer), false}
	case errors.Is(err, errSilent):
		return reason{"silent", "the broker at " + host + " has fallen silent: check that it runs, and the network", false}
	case isTimeout(err) && at == reaching:
		return reason{"no_answer", host + " does not answer: check host, port and firewall", false}
	case isTimeout(err) && at == greeting:
		return reason{"no_answer", fmt.Sprintf("%s takes connections but did not answer for %s: check that an MQTT broker listens there", host, o.Answer), false}
	case isTimeout(err):
		return reason{"stuck", "the broker at " + host + " takes no more data: it is overloaded or hangs", false}
	case ended && at == reaching && isTLS:
		return reason{"closed", host + " closed the connection while TLS was set up: check that this port is the one for TLS (often 8883)", false}
	case ended && at != working:
		return reason{"closed", host + " closed the connection without a word: check that this is the broker's port, whether it wants TLS, and that it allows the client id " + o.ClientID, false}
	case ended:
		return reason{"closed", "the broker at " + host + " closed the connection", false}
	}
	return reason{"", fmt.Sprintf("no connection to %s: %v", host, err), false}
}

// ofRefusal explains the answers to CONNECT (MQTT 3.1.1, 3.2.2.3).
func ofRefusal(err error, o uplink.Target) reason {
	var refused refusal
	if !errors.As(err, &refused) {
		return reason{}
	}
	host := o.URL.Host
	switch byte(refused) {
	case packets.ErrRefusedBadProtocolVersion:
		return reason{"version", "the broker at " + host + " does not speak MQTT 3.1.1: use one that does", true}
	case packets.ErrRefusedIDRejected:
		return reason{"client_id", fmt.Sprintf("the broker at %s does not take the client id %s: set another client_id", host, o.ClientID), true}
	case packets.ErrRefusedServerUnavailable:
		return reason{"unavailable", "the broker at " + host + " says that it is not available now", false}
	case packets.ErrRefusedBadUsernameOrPassword, packets.ErrRefusedNotAuthorised:
		if o.Username == "" {
			return reason{"no_user", "the broker at " + host + " lets nobody in without a user name: set username and password", true}
		}
		return reason{"password", "the broker at " + host + " refuses this user name and password: check both", true}
	}
	return reason{"not_accepted", fmt.Sprintf("the broker at %s refuses the connection (code %d)", host, byte(refused)), true}
}

// ofCertificate explains why the broker's certificate was not taken.
func ofCertificate(err error, o uplink.Target) reason {
	host := o.URL.Host
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore) {
			return reason{"clock", fmt.Sprintf("the certificate of %s is not valid before %s: check the clock of this box", host, invalid.Cert.NotBefore.UTC().Format(time.DateOnly)), false}
		}
		return reason{"certificate_expired", "the certificate of " + host + " has expired: renew it at the broker", false}
	case errors.As(err, &unknown):
		return reason{"certificate_unknown", "the certificate of " + host + " is from an authority that this box does not know: set ca to that authority's certificate", false}
	case errors.As(err, &name):
		return reason{"certificate_name", "the certificate of " + host + " is for another name: use a name in the url that the certificate has", false}
	case errors.As(err, &invalid):
		return reason{"certificate_bad", fmt.Sprintf("the certificate of %s is not valid: %v", host, invalid), false}
	}
	return reason{}
}

// The TLS alerts that say something about a client's certificate (RFC 8446, 6.2).
const (
	alertHandshakeFailure    tls.AlertError = 40
	alertBadCertificate      tls.AlertError = 42
	alertCertificateRevoked  tls.AlertError = 44
	alertCertificateExpired  tls.AlertError = 45
	alertCertificateUnknown  tls.AlertError = 46
	alertUnknownCA           tls.AlertError = 48
	alertCertificateRequired tls.AlertError = 116
)

// ofAlert explains why the broker has ended TLS.
func ofAlert(err error, o uplink.Target) reason {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return reason{}
	}
	host := o.URL.Host
	for _, alert := range []tls.AlertError{
		alertHandshakeFailure, alertBadCertificate, alertCertificateRevoked, alertCertificateExpired, alertCertificateUnknown, alertUnknownCA, alertCertificateRequired,
	} {
		if remote.Err.Error() != alert.Error() { // the type of the alert itself is not exported
			continue
		}
		return ofClient(o)
	}
	return reason{"tls_ended", fmt.Sprintf("%s ended TLS (%v): check its certificate settings", host, remote.Err), false}
}

// ofClient explains why a broker that asks for a client certificate lets nobody in.
func ofClient(o uplink.Target) reason {
	if len(o.TLS.Certificates) > 0 {
		if leaf := o.TLS.Certificates[0].Leaf; leaf != nil && time.Now().After(leaf.NotAfter) {
			return reason{"client_certificate", "client_certificate, which " + o.URL.Host + " asks for, has expired: renew it", true}
		}
	}
	if len(o.TLS.Certificates) == 0 {
		return reason{"client_certificate", o.URL.Host + " wants a client certificate: set client_certificate and client_key", true}
	}
	return reason{"client_certificate", o.URL.Host + " does not accept the client certificate: use one of an authority that the broker knows, and check that it has not expired", true}
}

// ofAddress explains why the broker's address is not reached.
func ofAddress(err error, o uplink.Target) reason {
	host := o.URL.Host
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return reason{"name", "no host " + o.URL.Hostname() + " is known: check its name", false}
	case errors.As(err, &dns):
		return reason{"lookup", "the name " + o.URL.Hostname() + " cannot be looked up: check the network and its name server", false}
	case errors.Is(err, syscall.ECONNREFUSED):
		return reason{"refused", "nothing listens at " + host + ": check host and port, and that the broker runs", false}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return reason{"no_way", "there is no way to " + host + ": check the network", false}
	}
	return reason{}
}

// isEnd reports whether the other side has ended the connection.
func isEnd(err error) bool {
	var closed *websocket.CloseError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &closed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isTimeout reports whether a deadline has passed.
func isTimeout(err error) bool {
	var net net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &net) && net.Timeout()
}
