package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/peer"
)

const (
	// retryAfterS is after how many seconds a device that is not admitted yet asks again.
	retryAfterS = 30
	// postRate and postBurst are what one address may post, per second and at once.
	postRate  = 1
	postBurst = 10
)

// The reasons for which the gatekeeper turns a post away by itself.
const (
	TurnedMethod    = "method"    // not POST
	TurnedBrowser   = "browser"   // sent by a web page
	TurnedThrottled = "throttled" // over the rate of its address
	TurnedTooLarge  = "too large" // body over 256 KiB
	TurnedBusy      = "busy"      // too many other posts on their way
	TurnedMalformed = "malformed" // body unreadable or against a rule
)

// Admitter decides about a device that asks to join. Admit is called concurrently. A fault is
// shown to the device, with a time to come back when it is Unavailable or Throttled; any other
// error is internal, and is logged.
type Admitter interface {
	Admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error)
}

// GatekeeperConfig says where devices find the broker.
type GatekeeperConfig struct {
	MQServer     string // host name or address; "" = the local address that the post came to
	MQPort       int
	MQSecurePort int // 0: TLS is off

	// Body returns the body of a post, of at most limit bytes, once it may be decoded, and a
	// function to call when it has been. Its errors are faults: TooLarge, Unavailable or
	// Malformed. nil: bodies are read without waiting.
	Body func(w http.ResponseWriter, r *http.Request, limit int) (body []byte, decoded func(), err error)

	// Neighbour, unless nil, returns the MAC of the sender at an address, zero when it
	// cannot be had. It is called concurrently.
	Neighbour func(address netip.Addr) motion.MAC
	// TurnedAway, unless nil, is called for every post that does not reach the Admitter, with
	// one of the Turned reasons and what was wrong. It is called concurrently, and during a
	// flood as often as posts come.
	TurnedAway func(address netip.Addr, reason string, err error)
}

type gatekeeper struct {
	config  GatekeeperConfig
	admit   Admitter
	log     *slog.Logger
	posters *peer.Rates
}

// NewGatekeeper returns the handler of POST /gatekeeper
// (device-protocol.md 1). It reads the body whatever its content type, at most 256 KiB of it,
// lets each address post once a second after a burst of 10 (loopback as often as
// it likes), and answers in one of the three forms of wire.BootstrapAnswer, or
// with a problem (payloads.md 1). Tokens are neither logged nor cached.
func NewGatekeeper(config GatekeeperConfig, admit Admitter, log *slog.Logger) http.Handler {
	if config.Body == nil {
		config.Body = plainBody
	}
	return &gatekeeper{config: config, admit: admit, log: log, posters: peer.NewRates(postRate, postBurst)}
}

func (g *gatekeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	address := senderOf(r)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		g.turnAway(w, address, http.StatusMethodNotAllowed, TurnedMethod, errors.New("want POST"))
		return
	}
	// Devices send no Origin, browsers always do: a page that a resident has open
	// must not adopt a device of its own.
	if r.Header.Get("Origin") != "" {
		g.turnAway(w, address, http.StatusForbidden, TurnedBrowser, errors.New("only devices bootstrap"))
		return
	}
	if wait := g.wait(address); wait > 0 {
		retryAfter(w, wait)
		g.turnAway(w, address, http.StatusTooManyRequests, TurnedThrottled, errors.New("too many posts from this address"))
		return
	}
	bootstrap, err := g.bootstrap(w, r)
	switch {
	case err == nil:
	case fault.KindOf(err) == fault.TooLarge:
		g.turnAway(w, address, http.StatusRequestEntityTooLarge, TurnedTooLarge, err)
		return
	case fault.KindOf(err) == fault.Unavailable:
		retryAfter(w, time.Second)
		g.turnAway(w, address, http.StatusServiceUnavailable, TurnedBusy, err)
		return
	default:
		g.turnAway(w, address, http.StatusBadRequest, TurnedMalformed, err)
		return
	}
	answer, err := g.answer(r, bootstrap, address)
	if r.Context().Err() != nil {
		return // the device is gone, and posts again when it is back
	}
	if err != nil {
		g.fail(w, bootstrap, err)
		return
	}
	write(w, http.StatusOK, "application/json", answer)
}

// wait returns how long address has to wait, 0 when its post may pass. Loopback never
// waits: a proxy on the appliance posts for every device.
func (g *gatekeeper) wait(address netip.Addr) time.Duration {
	if address.IsLoopback() {
		return 0
	}
	return g.posters.Take(address, time.Now())
}

// bootstrap reads the body; its errors are faults.
func (g *gatekeeper) bootstrap(w http.ResponseWriter, r *http.Request) (motion.Bootstrap, error) {
	body, decoded, err := g.config.Body(w, r, wire.MaxMessage)
	if err != nil {
		return motion.Bootstrap{}, err
	}
	defer decoded()
	return wire.DecodeBootstrap(body)
}

// plainBody reads a body without waiting.
func plainBody(w http.ResponseWriter, r *http.Request, limit int) (body []byte, decoded func(), err error) {
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, nil, fault.New(fault.TooLarge, "body over %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, nil, fault.New(fault.Malformed, "body ended early")
	}
	return body, func() {}, nil
}

// answer asks the Admitter, but not before the answer can be given: an admission may carry a
// token that exists nowhere else.
func (g *gatekeeper) answer(r *http.Request, b motion.Bootstrap, address netip.Addr) (wire.BootstrapAnswer, error) {
	server := g.config.MQServer
	if server == "" {
		server = localAddress(r.Context())
	}
	if server == "" {
		return wire.BootstrapAnswer{}, errors.New("local address of the connection is unknown: configure the broker's")
	}
	shown := motion.Credentials{Token: tokenOf(r), Address: address}
	if g.config.Neighbour != nil {
		shown.MAC = g.config.Neighbour(address)
	}
	admission, err := g.admit.Admit(r.Context(), b, shown)
	switch {
	case err != nil:
		return wire.BootstrapAnswer{}, err
	case admission.Redirect != "":
		return wire.BootstrapAnswer{Redirect: admission.Redirect}, nil
	case admission.TryAgain != "":
		return wire.BootstrapAnswer{Status: wire.StatusTryAgain, RetryAfterS: retryAfterS, Reason: admission.TryAgain}, nil
	}
	return g.access(admission, server), nil
}

// access returns how an admitted device reaches the broker at server.
func (g *gatekeeper) access(a motion.Admission, server string) wire.BootstrapAnswer {
	local := &wire.LocalConfig{Radar: &wire.RadarAccess{
		NetworkID: a.Network, DeviceID: a.DeviceID, MQServer: server, MQPort: g.config.MQPort,
		MQSecureRadarPort: g.config.MQSecurePort, MQToken: a.RadarToken, MQType: motion.RadarKind,
	}}
	if a.SecurePort != nil && g.config.MQSecurePort != 0 {
		local.Radar.MQSecureRadarPort = *a.SecurePort
	}
	if a.GuardianToken != "" {
		local.Guardian = &wire.GuardianAccess{
			NetworkID: a.Network, GuardianID: a.GuardianID, MQServer: server, MQPort: g.config.MQPort,
			MQSecurePort: g.config.MQSecurePort, MQToken: a.GuardianToken, MQType: motion.Guardian,
		}
	}
	answer := wire.BootstrapAnswer{LocalConfig: local, RadarConfig: motion.Document{}, GuardianConfig: motion.Document{}}
	if a.Radar != nil {
		answer.RadarConfig = a.Radar
	}
	if a.Guardian != nil {
		answer.GuardianConfig = a.Guardian
	}
	return answer
}

// fail answers what Admit returned as an error.
func (g *gatekeeper) fail(w http.ResponseWriter, b motion.Bootstrap, err error) {
	var known *fault.Error
	if !errors.As(err, &known) {
		g.log.Error("gatekeeper cannot answer", "device", b.Radar.DeviceID, "err", err)
		problem(w, http.StatusInternalServerError, "try again later")
		return
	}
	status := http.StatusBadRequest
	switch known.Kind {
	case fault.Unavailable:
		status = http.StatusServiceUnavailable
	case fault.Throttled:
		status = http.StatusTooManyRequests
	}
	if status != http.StatusBadRequest {
		retryAfter(w, max(known.RetryAfter, time.Second))
	}
	problem(w, status, known.Message)
}

// turnAway answers a post that never reaches the Admitter; err is shown.
func (g *gatekeeper) turnAway(w http.ResponseWriter, address netip.Addr, status int, reason string, err error) {
	if g.config.TurnedAway != nil {
		g.config.TurnedAway(address, reason, err)
	}
	problem(w, status, err.Error())
}

// problem writes an RFC 9457 error.
func problem(w http.ResponseWriter, status int, detail string) {
	write(w, status, "application/problem+json", struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", http.StatusText(status), status, detail})
}

// write writes body as JSON. Devices compare texts byte by byte, so & and the
// like stay what they are.
func write(w http.ResponseWriter, status int, contentType string, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		// a configuration document is made of JSON and can be written as such
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	// a device that is gone asks again
	_, _ = w.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
}

// retryAfter sets the header in whole seconds, rounded up.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

// tokenOf returns the token of a post: that of the Authorization header counts
// before that of the query.
func tokenOf(r *http.Request) string {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return r.URL.Query().Get("access_token")
}

// senderOf returns the address that a request came from, the zero Addr when the
// transport has none.
func senderOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}

// localAddress returns the address that a request came to, without a zone, which
// would mean nothing to the device; "" when it is unknown.
func localAddress(ctx context.Context) string {
	local, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return ""
	}
	address, ok := netip.AddrFromSlice(local.IP)
	if !ok || address.IsUnspecified() {
		return ""
	}
	return address.Unmap().WithZone("").String()
}
