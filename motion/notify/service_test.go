package notify

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// Answers of the service, as it documents them.
const (
	unregistered = `{"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND",
		"details": [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"}]}}`
	invalidArgument = `{"error": {"code": 400, "message": "The registration token is not a valid FCM registration token", "status": "INVALID_ARGUMENT",
		"details": [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "INVALID_ARGUMENT"}]}}`
	senderMismatch = `{"error": {"code": 403, "message": "SenderId mismatch", "status": "PERMISSION_DENIED",
		"details": [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "SENDER_ID_MISMATCH"}]}}`
	quotaExceeded = `{"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
		"details": [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "QUOTA_EXCEEDED"}]}}`
	unavailable     = `{"error": {"code": 503, "message": "The service is currently unavailable.", "status": "UNAVAILABLE"}}`
	unauthenticated = `{"error": {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}}`
)

// service speaks FCM HTTP v1: a token endpoint that takes signed assertions (RFC 7523),
// and messages:send of one project.
type service struct {
	*httptest.Server
	t           *testing.T
	credentials string // the service account that it knows, JSON

	mu       sync.Mutex
	key      *rsa.PrivateKey
	logins   int
	access   string // the access token that is good now
	messages []map[string]any
	answer   func(token string, w http.ResponseWriter) bool // false: as if all were well
}

func serveFCM(t *testing.T) *service {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, key: key, answer: func(string, http.ResponseWriter) bool { return false }}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.login)
	mux.HandleFunc("POST /v1/projects/lake-1/messages:send", s.send)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "lake-1", "private_key_id": "key-1", "client_email": "push@lake-1.example.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": s.URL + "/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.credentials = string(account)
	return s
}

// config returns how to reach the service.
func (s *service) config(o *Options) {
	o.Push.FCM = FCMConfig{Credentials: s.credentials, Endpoint: s.URL}
}

// login checks an assertion and gives an access token.
func (s *service) login(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	assertion, err := jwt.Parse(r.FormValue("assertion"), func(*jwt.Token) (any, error) { return &s.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(s.URL+"/token"), jwt.WithIssuer("push@lake-1.example.com"), jwt.WithExpirationRequired())
	claims, _ := assertion.Claims.(jwt.MapClaims)
	if err != nil || assertion.Header["kid"] != "key-1" || claims["scope"] != fcmScope || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		status(w, http.StatusBadRequest, `{"error": "invalid_grant", "error_description": "push@lake-1.example.com"}`)
		return
	}
	s.logins++
	s.access = fmt.Sprintf("access-%d", s.logins)
	status(w, http.StatusOK, `{"access_token": "`+s.access+`", "token_type": "Bearer", "expires_in": 3600}`)
}

// send takes a message.
func (s *service) send(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+s.access {
		status(w, http.StatusUnauthorized, unauthenticated)
		return
	}
	raw, err := io.ReadAll(r.Body)
	var body struct {
		Message map[string]any `json:"message"`
	}
	if err != nil || json.Unmarshal(raw, &body) != nil || body.Message["token"] == nil {
		s.t.Errorf("message %s: %v", raw, err)
	}
	token := fmt.Sprint(body.Message["token"])
	if s.answer(token, w) {
		return
	}
	if data, ok := body.Message["data"].(map[string]any); ok {
		for key, value := range data {
			if _, isText := value.(string); !isText {
				s.t.Errorf("data.%s is no text: %v", key, value)
				status(w, http.StatusBadRequest, invalidArgument)
				return
			}
		}
	}
	s.messages = append(s.messages, body.Message)
	status(w, http.StatusOK, `{"name": "projects/lake-1/messages/0:1"}`)
}

// answering sets what the service answers to the message for a token.
func (s *service) answering(answer func(token string, w http.ResponseWriter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// tokens returns to which tokens messages were taken, in order.
func (s *service) tokens() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, m := range s.messages {
		list = append(list, fmt.Sprint(m["token"]))
	}
	return strings.Join(list, " ")
}

// revoke makes the access token that was given void.
func (s *service) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = "none"
}

// webhookPosts is a receiver of the pushes that a webhook gets.
type webhookPosts struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	posts  []webhookPost
}

type webhookPost struct {
	id, timestamp, signature string
	body                     []byte
}

func serveWebhook(t *testing.T) *webhookPosts {
	t.Helper()
	s := &webhookPosts{status: http.StatusNoContent}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.posts = append(s.posts, webhookPost{r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body})
		w.WriteHeader(s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *webhookPosts) config(o *Options) {
	o.Push.Webhook.URL, o.Push.Webhook.Secret = s.URL+"/hook", "an invented secret"
}

func (s *webhookPosts) all() []webhookPost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]webhookPost(nil), s.posts...)
}

func (s *webhookPosts) answering(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}
