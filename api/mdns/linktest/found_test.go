package linktest

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/api/appliance/box"
)

func TestBoxIsFound(t *testing.T) {
	t.Parallel()
	if missing := needed(); missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	product := box.Build(t)
	for name, test := range map[string]func(*testing.T, *house, string){
		"by names and as a service, over IPv4 and IPv6":     byNamesAndServices,
		"beside another one, which has the next name":       besideAnother,
		"no more after it has said goodbye":                 untilGoodbye,
		"on a link that comes later, at a changed address":  onALaterLink,
		"by its own name where its host name is taken":      whereTheHostNameIsTaken,
		"not where it was told to stay off, nor on uplinks": onlyWhereItMay,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newHouse(t), product)
		})
	}
}

// process is a running product in a namespace, with a host name of its own.
type process struct {
	t       *testing.T
	house   *house
	host    string
	dir     string
	product string
	cmd     *exec.Cmd
	out     *strings.Builder // complete after stop
}

// start starts a product that listens on all addresses, and waits until it is ready.
func (h *house) start(product, host string, environment ...string) *process {
	h.t.Helper()
	p := &process{t: h.t, house: h, host: host, dir: h.t.TempDir(), product: product, out: &strings.Builder{}}
	p.cmd = exec.Command("ip", "netns", "exec", h.space(host), "unshare", "--uts",
		"sh", "-c", `echo "$1" >/proc/sys/kernel/hostname && exec "$0" serve`, product, host)
	p.cmd.Env = append(box.Environment(p.dir, "SENSEGATE_HTTP_LISTEN=:0", "SENSEGATE_HTTP_TLS_LISTEN=:0"), environment...)
	p.cmd.Stdout = p.out
	log, err := p.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ready, drained := make(chan struct{}), make(chan struct{})
	var lines []string // the reader's until drained
	go func() {
		defer close(drained)
		for scanner := bufio.NewScanner(log); scanner.Scan(); {
			lines = append(lines, scanner.Text())
			if strings.Contains(scanner.Text(), `"msg":"ready"`) {
				close(ready)
			}
		}
	}()
	h.t.Cleanup(func() {
		p.stop()
		<-drained
		if h.t.Failed() {
			h.t.Logf("log of %s:\n%s", host, strings.Join(lines, "\n"))
		}
	})
	select {
	case <-ready:
	case <-drained:
		h.t.Fatalf("%s does not start", host)
	case <-time.After(box.Patience):
		h.t.Fatalf("%s is not ready", host)
	}
	return p
}

// stop ends the product in order; it may be called again.
func (p *process) stop() {
	p.t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%s did not end in order: %v", p.host, err)
	}
}

// reach is what the product tells its administrator.
type reach struct {
	Port         int
	Addresses    []string
	Names        []string
	Interfaces   []string
	WithoutNames string `json:"without_names"`
	Link         string
}

func (p *process) status() (r reach) {
	p.t.Helper()
	var answer struct{ Reach *reach }
	answer.Reach = &r
	if err := json.Unmarshal([]byte(box.Administer(p.t, p.product, p.dir, "status", "-json")), &answer); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// get asks for the app from a member, at an address and under a name, and returns the status.
func (h *house) get(member, address, host string, port int) int {
	h.t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return h.dial(member, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get("http://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/")
	if err != nil {
		h.t.Fatal(err)
	}
	_ = response.Body.Close() // only the status is of interest
	return response.StatusCode
}

// join adds a member with an interface eth0 on the link.
func (h *house) join(member string, n int) {
	h.t.Helper()
	h.add(member)
	h.connect(member, "eth0", n)
}

func byNamesAndServices(t *testing.T, h *house, product string) {
	h.join("boxa", 1)
	h.join("phone", 9)
	p, c := h.start(product, "boxa"), h.client("phone")
	for _, name := range []string{"sensegate.local.", "boxa.local.", "SenseGate.local."} {
		c.eventually(name, "192.168.7.1", "fd07::1")
	}
	told := p.status()
	if !slices.Equal(told.Names, []string{"sensegate.local", "boxa.local"}) || !slices.Equal(told.Interfaces, []string{"eth0"}) || told.WithoutNames != "" {
		t.Errorf("status tells %+v", told)
	}
	for _, service := range []string{"_sensegate._tcp.local.", "_http._tcp.local."} {
		found := c.browsed(service, 1)
		if where := found["sensegate"]; len(found) != 1 || where.Target.String() != "sensegate.local." || int(where.Port) != told.Port {
			t.Errorf("browsing %s finds %v, port is %d", service, found, told.Port)
		}
	}
	for host, want := range map[string]int{"sensegate.local": 200, "boxa.local": 200, "192.168.7.1": 200, "sensegate-2.local": 421} {
		if got := h.get("phone", "192.168.7.1", host, told.Port); got != want {
			t.Errorf("%s is answered %d, want %d", host, got, want)
		}
	}
	var setup reach
	if err := json.Unmarshal([]byte(box.Administer(t, product, p.dir, "setup-code", "-json")), &setup); err != nil {
		t.Fatal(err)
	}
	if link := "http://192.168.7.1:" + strconv.Itoa(told.Port) + "/#setup="; !strings.HasPrefix(setup.Link, link) {
		t.Errorf("the setup code is at %s, want %s", setup.Link, link)
	}
	p.stop()
	if out := p.out.String(); !strings.Contains(out, "/#setup=") || !strings.Contains(out, "http://sensegate.local:") || strings.Contains(out, "█") {
		t.Errorf("it prints\n%s", out)
	}
}

func besideAnother(t *testing.T, h *house, product string) {
	h.join("boxa", 1)
	h.join("boxb", 2)
	h.join("phone", 9)
	h.start(product, "boxa")
	c := h.client("phone")
	c.eventually("sensegate.local.", "192.168.7.1", "fd07::1")
	second := h.start(product, "boxb")
	c.eventually("sensegate-2.local.", "192.168.7.2", "fd07::2")
	c.eventually("boxb.local.", "192.168.7.2", "fd07::2")
	c.eventually("sensegate.local.", "192.168.7.1", "fd07::1")
	told := second.status()
	if !slices.Equal(told.Names, []string{"sensegate-2.local", "boxb.local"}) {
		t.Errorf("the second tells %+v", told)
	}
	if found := c.browsed("_sensegate._tcp.local.", 2); len(found) != 2 || found["sensegate-2"].Target.String() != "sensegate-2.local." {
		t.Errorf("browsing finds %v", found)
	}
	for host, want := range map[string]int{"sensegate-2.local": 200, "sensegate.local": 421} {
		if got := h.get("phone", "192.168.7.2", host, told.Port); got != want {
			t.Errorf("the second answers %d to %s, want %d", got, host, want)
		}
	}
}

func untilGoodbye(t *testing.T, h *house, product string) {
	h.join("boxa", 1)
	h.join("phone", 9)
	p, c := h.start(product, "boxa"), h.client("phone")
	c.eventually("sensegate.local.", "192.168.7.1", "fd07::1")
	p.stop()
	gone := map[string]bool{}
	for _, m := range c.heard(c.group, time.Second) {
		for _, r := range m.Answers {
			if r.Header.TTL == 0 {
				gone[strings.TrimPrefix(r.Header.Type.String(), "Type")+" "+r.Header.Name.String()] = true
			}
		}
	}
	for _, want := range []string{"A sensegate.local.", "AAAA boxa.local.", "PTR _sensegate._tcp.local.", "SRV sensegate._sensegate._tcp.local."} {
		if !gone[want] {
			t.Errorf("goodbye lacks %s: %v", want, gone)
		}
	}
	if got := c.asked(false, "sensegate.local.", dnsmessage.TypeA); len(got) != 0 {
		t.Errorf("after the stop there are answers: %v", got)
	}
}

func onALaterLink(t *testing.T, h *house, product string) {
	h.add("boxa")
	h.join("phone", 9)
	p, c := h.start(product, "boxa"), h.client("phone")
	if told := p.status(); len(told.Names) != 0 || !strings.Contains(told.WithoutNames, "no interface leads to a private network") {
		t.Errorf("without a cable it tells %+v", told)
	}
	h.connect("boxa", "lan0", 1)
	c.eventually("sensegate.local.", "192.168.7.1", "fd07::1")
	h.ip("-n", h.space("boxa"), "address", "delete", "192.168.7.1/24", "dev", "lan0")
	h.ip("-n", h.space("boxa"), "address", "add", "192.168.7.5/24", "dev", "lan0")
	c.eventually("sensegate.local.", "192.168.7.5", "fd07::1")
	h.ip("-n", h.space("boxa"), "link", "delete", "lan0")
	for end := time.Now().Add(box.Patience); len(p.status().Names) > 0; {
		if time.Now().After(end) {
			t.Fatal("it tells names though its link has gone")
		}
	}
	h.connect("boxa", "lan1", 6)
	c.eventually("sensegate.local.", "192.168.7.6", "fd07::6")
}

func whereTheHostNameIsTaken(t *testing.T, h *house, product string) {
	h.join("boxa", 1)
	h.join("phone", 9)
	h.answerFor("phone", "boxa.local.", "192.168.7.9")
	p, c := h.start(product, "boxa"), h.client("phone")
	c.eventually("sensegate.local.", "192.168.7.1", "fd07::1")
	if told := p.status(); !slices.Equal(told.Names, []string{"sensegate.local"}) {
		t.Errorf("status tells %+v", told)
	}
	if got := c.addresses("boxa.local."); slices.Contains(got, "192.168.7.1") || slices.Contains(got, "fd07::1") {
		t.Errorf("it answers for a name of another: %v", got)
	}
}

func onlyWhereItMay(t *testing.T, h *house, product string) {
	h.join("boxa", 1)
	h.join("boxb", 2)
	h.join("boxc", 3)
	h.join("boxd", 4)
	h.join("phone", 9)
	h.ip("-n", h.space("boxb"), "address", "add", "203.0.113.5/24", "dev", "eth0") // an uplink
	off := h.start(product, "boxa", "SENSEGATE_HTTP_MDNS=false")
	uplink := h.start(product, "boxb")
	elsewhere := h.start(product, "boxc", "SENSEGATE_HTTP_MDNS_INTERFACES=eth1")
	h.start(product, "boxd", "SENSEGATE_HTTP_MDNS_INTERFACES=eth0")
	c := h.client("phone")
	c.eventually("sensegate.local.", "192.168.7.4", "fd07::4") // the only one
	for p, want := range map[*process]string{off: "http.mdns is false", uplink: "no interface", elsewhere: "no interface"} {
		if told := p.status(); len(told.Names) != 0 || !strings.Contains(told.WithoutNames, want) {
			t.Errorf("%s tells %+v", p.host, told)
		}
		if got := c.addresses(p.host + ".local."); len(got) != 0 {
			t.Errorf("%s is found at %v", p.host, got)
		}
	}
}
