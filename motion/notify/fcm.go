package notify

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"sensegate/motion"
	"sensegate/motion/hook"
)

const (
	fcmScope  = "https://www.googleapis.com/auth/firebase.messaging"
	fcmAnswer = 16 << 10 // greatest length of an answer that is read
)

// account is the JSON file of a service account.
type account struct {
	Project  string `json:"project_id"`
	Email    string `json:"client_email"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"` // PEM
	TokenURL string `json:"token_uri"`
}

// account returns the configured service account, or nil. Errors contain no configured value.
func (c FCMConfig) account() (*account, error) {
	text, err := secret(c.Credentials, c.CredentialsFile)
	if err != nil || text == "" {
		return nil, err
	}
	var a account
	if json.Unmarshal([]byte(text), &a) != nil || a.Project == "" || a.Email == "" {
		return nil, errors.New("want a service account as JSON text, with project_id and client_email")
	}
	if c.TokenURL != "" {
		a.TokenURL = c.TokenURL
	}
	if !isHTTP(a.TokenURL) {
		return nil, errors.New("want token_uri in the service account, or fcm.token_url")
	}
	block, _ := pem.Decode([]byte(a.Key))
	if block == nil {
		return nil, errors.New("want private_key as PEM text")
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
			return nil, errors.New("want private_key as an RSA key")
		}
	}
	return &a, nil
}

// fcm sends messages to single devices over FCM HTTP v1 (projects.messages.send).
type fcm struct {
	url    string
	config jwt.Config
	client *http.Client

	mu     sync.Mutex
	tokens oauth2.TokenSource // caches the access token until it expires
}

// newFCM returns the configured service, or nil.
func newFCM(c FCMConfig) (*fcm, error) {
	a, err := c.account()
	if err != nil || a == nil {
		return nil, err
	}
	f := &fcm{
		url:    strings.TrimRight(c.Endpoint, "/") + "/v1/projects/" + url.PathEscape(a.Project) + "/messages:send",
		client: hook.Client(),
		config: jwt.Config{Email: a.Email, PrivateKey: []byte(a.Key), PrivateKeyID: a.KeyID, Scopes: []string{fcmScope}, TokenURL: a.TokenURL},
	}
	f.forget()
	return f, nil
}

// forget discards the access token; the next message fetches a new one.
func (f *fcm) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = f.config.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, f.client))
}

// source returns the source of access tokens.
func (f *fcm) source() oauth2.TokenSource {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tokens
}

// outcome is the result of one try to push.
type outcome struct {
	verdict hook.Verdict
	dead    bool          // the token belongs to no installation
	asked   time.Duration // Retry-After of the service
	err     error         // why it was not accepted, without addresses and tokens
}

// send tries once to push a message to a device.
func (f *fcm) send(ctx context.Context, token string, payload motion.Document) outcome {
	body, err := fcmMessage(token, payload)
	if err != nil {
		return outcome{verdict: hook.Refused, err: err}
	}
	access, err := f.source().Token()
	if err != nil {
		return outcome{verdict: hook.TryAgain, err: accessError(err)}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return outcome{verdict: hook.Refused, err: hook.WithoutURL(err)}
	}
	request.Header.Set("Content-Type", "application/json; charset=UTF-8")
	access.SetAuthHeader(request)
	response, err := f.client.Do(request)
	if err != nil {
		return outcome{verdict: hook.TryAgain, err: hook.WithoutURL(err)}
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, fcmAnswer)) // an incomplete answer cannot be judged either
	return f.judge(response, answer)
}

// accessError returns why there is no access token. It omits the answer, which may describe the
// account.
func accessError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		return fmt.Errorf("access token: the service answered %s", refused.Response.Status)
	}
	return fmt.Errorf("access token: %w", hook.WithoutURL(err))
}

// fcmError is the body of an answer other than 2xx (google.rpc.Status with an
// FcmError among its details).
type fcmError struct {
	Error struct {
		Status  string `json:"status"`
		Message string `json:"message"`
		Details []struct {
			ErrorCode string `json:"errorCode"`
		} `json:"details"`
	} `json:"error"`
}

// judge returns the outcome of an answer. UNREGISTERED, or NOT_FOUND with 404, mean that the
// device is not registered any more; a 404 for a wrong address has neither. judge discards an
// access token that the service rejects.
func (f *fcm) judge(response *http.Response, body []byte) outcome {
	verdict, asked, err := hook.Judge(response)
	if verdict == hook.Accepted {
		return outcome{}
	}
	var told fcmError
	_ = json.Unmarshal(body, &told) // an unreadable body gives no reason
	code := told.Error.Status
	for _, d := range told.Error.Details {
		if d.ErrorCode != "" {
			code = d.ErrorCode
		}
	}
	if code != "" {
		err = fmt.Errorf("%w (%s)", err, cut(code, 40))
	}
	switch {
	case code == "UNREGISTERED", response.StatusCode == http.StatusNotFound && told.Error.Status == "NOT_FOUND":
		return outcome{verdict: hook.Refused, dead: true, err: err}
	case response.StatusCode == http.StatusUnauthorized:
		f.forget()
		return outcome{verdict: hook.TryAgain, err: err}
	case verdict == hook.Gone:
		verdict = hook.Refused
	}
	return outcome{verdict: verdict, asked: asked, err: err}
}

// fcmMessage returns the message of a payload to a device. It converts the values of data to
// text, as the service requires.
func fcmMessage(token string, payload motion.Document) ([]byte, error) {
	message := payload.Clone()
	if message == nil {
		message = motion.Document{}
	}
	if data, ok := message["data"].(map[string]any); ok {
		texts := make(map[string]string, len(data))
		for key, value := range data {
			text, isText := value.(string)
			if !isText {
				raw, err := json.Marshal(value)
				if err != nil {
					return nil, fmt.Errorf("data.%s: %w", key, err)
				}
				text = string(raw)
			}
			texts[key] = text
		}
		message["data"] = texts
	}
	message["token"] = token
	return json.Marshal(map[string]any{"message": message})
}
