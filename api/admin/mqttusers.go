package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"

	"sensegate/store"
)

// mqttUser is an integration user; its secret is shown once.
type mqttUser struct {
	store.IntegrationUser
	Secret string `json:"secret,omitempty"`
}

func (s *Server) serveMQTTUsers(r *http.Request) (any, error) { return s.box.MQTTUsers(r.Context()) }

func (s *Server) serveCreateMQTTUser(r *http.Request, body store.IntegrationUser) (any, error) {
	user, secret, err := s.box.CreateMQTTUser(r.Context(), actor(r), body.Name, body.TopicPrefix)
	return mqttUser{IntegrationUser: user, Secret: secret}, err
}

func (s *Server) serveRemoveMQTTUser(r *http.Request) (any, error) {
	return struct{}{}, s.box.RemoveMQTTUser(r.Context(), actor(r), r.PathValue("id"))
}

func createMQTTUser(flags *flag.FlagSet) action {
	prefix := flags.String("prefix", "", "topics of the user; its name when empty")
	return withArgument("a name for the MQTT user, such as homeassistant", func(ctx context.Context, c command, name string) error {
		if *prefix == "" {
			*prefix = name
		}
		body := store.IntegrationUser{Name: name, TopicPrefix: *prefix}
		return ask(ctx, c, http.MethodPost, "/mqttusers", body, func(w io.Writer, user mqttUser) {
			fmt.Fprintf(w, "%s\n\nMQTT user %s: that is its password, it is not shown again. Its topics are those below %s/.\n", user.Secret, user.Name, user.TopicPrefix)
		})
	})
}

func showMQTTUsers(w io.Writer, users []store.IntegrationUser) {
	fmt.Fprintln(w, "NAME\tTOPICS\tCREATED")
	for _, u := range users {
		fmt.Fprintf(w, "%s\t%s/#\t%s\n", u.Name, u.TopicPrefix, when(u.CreatedAt))
	}
}
