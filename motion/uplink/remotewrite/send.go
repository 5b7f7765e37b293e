package remotewrite

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/golang/snappy"

	"sensegate/motion/hook"
	"sensegate/motion/uplink"
)

// receiver is a service that takes series.
type receiver struct {
	url, host          string
	username, password string
	client             *http.Client
}

// newReceiver returns the receiver of an uplink.
func newReceiver(u uplink.Uplink) (*receiver, error) {
	target, err := u.Endpoint()
	if err != nil {
		return nil, err
	}
	client := hook.Client()
	client.Transport.(*http.Transport).TLSClientConfig = target.TLS
	return &receiver{url: target.URL.String(), host: target.URL.Host, username: target.Username, password: target.Password, client: client}, nil
}

// refusedError says that a receiver does not take these samples, and would not take them later.
type refusedError struct{ words string }

func (e *refusedError) Error() string { return e.words }

// laterError says that a receiver wants to be left alone for a while.
type laterError struct {
	words string
	after time.Duration // that it asked for; 0: it did not say
}

func (e *laterError) Error() string { return e.words }

// mostAnswer is how much of an answer's text is read.
const mostAnswer = 2048

// send posts a request. Its error is a *refusedError, a *laterError, a *uplink.Failure, or that of ctx.
func (r *receiver) send(ctx context.Context, all []timeSeries) error {
	body := snappy.Encode(nil, encode(all))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return &uplink.Failure{Text: "url: cannot be asked", Step: uplink.Reach, Slow: true}
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "snappy")
	request.Header.Set("User-Agent", "sensegate")
	request.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	if r.username != "" {
		request.SetBasicAuth(r.username, r.password)
	}
	response, err := r.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return r.unreachable(err)
	}
	defer response.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	return r.judge(response, oneLine(said))
}

// unreachable says why there was no answer.
func (r *receiver) unreachable(err error) error {
	var certificate *tls.CertificateVerificationError
	code, text := "no_answer", fmt.Sprintf("no answer from %s: %v", r.host, hook.WithoutURL(err))
	if errors.As(err, &certificate) {
		code, text = "certificate_bad", fmt.Sprintf("the certificate of %s is not accepted: %v", r.host, certificate.Err)
	}
	return &uplink.Failure{Code: code, Text: text, Step: uplink.Reach, Err: err}
}

// judge says what an answer means.
func (r *receiver) judge(response *http.Response, said string) error {
	verdict, after, _ := hook.Judge(response)
	switch code := response.StatusCode; {
	case verdict == hook.Accepted:
		return nil
	case code == http.StatusInternalServerError && strings.Contains(said, "too old sample"):
		return &refusedError{said} // Prometheus 2.42 says so of samples outside of its window
	case verdict == hook.TryAgain:
		return &laterError{fmt.Sprintf("%s asks to try again later (%s): %s", r.host, response.Status, said), after}
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return &uplink.Failure{Code: "password", Text: fmt.Sprintf("%s refuses this user name and password (%s): check both", r.host, response.Status), Step: uplink.Login, Slow: true}
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusGone:
		return &uplink.Failure{Text: fmt.Sprintf(
			"%s has no receiver of Remote Write at this path (%s): Prometheus has it at /api/v1/write when it is started with --web.enable-remote-write-receiver", r.host, response.Status), Step: uplink.Publish, Slow: true}
	case code/100 == 3:
		return &uplink.Failure{Text: fmt.Sprintf("%s sends elsewhere (%s): use that address in the url", r.host, response.Status), Step: uplink.Reach, Slow: true}
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge, code == http.StatusUnprocessableEntity:
		return &refusedError{said}
	default:
		return &uplink.Failure{Text: fmt.Sprintf("%s takes no Remote Write 1.0 (%s): %s", r.host, response.Status, said), Step: uplink.Publish, Slow: true}
	}
}

// oneLine returns an answer's text as it can stand in a log.
func oneLine(said []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(said), "?"))
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}
