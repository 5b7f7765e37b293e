package admin

import (
	"cmp"
	"context"
	"errors"
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
	if body.Discovery != "" {
		user, secret, err := s.box.CreateHomeAssistantUser(r.Context(), actor(r), body.Name)
		return mqttUser{IntegrationUser: user, Secret: secret}, err
	}
	user, secret, err := s.box.CreateMQTTUser(r.Context(), actor(r), body.Name, body.TopicPrefix)
	return mqttUser{IntegrationUser: user, Secret: secret}, err
}

func (s *Server) serveRemoveMQTTUser(r *http.Request) (any, error) {
	return struct{}{}, s.box.RemoveMQTTUser(r.Context(), actor(r), r.PathValue("id"))
}

func createMQTTUser(flags *flag.FlagSet) action {
	prefix := flags.String("prefix", "", "topics of the user; its name when empty")
	purpose := flags.String("for", "", "home-assistant: it reads the entities that an uplink with the url own shows, and writes commands")
	return withArgument("a name for the MQTT user, such as homeassistant", func(ctx context.Context, c command, name string) error {
		body := store.IntegrationUser{Name: name, TopicPrefix: cmp.Or(*prefix, name)}
		switch {
		case *purpose == "home-assistant" && *prefix == "":
			body = store.IntegrationUser{Name: name, Discovery: *purpose} // the appliance knows the topics
		case *purpose != "":
			return errors.New("want -for home-assistant, or -prefix, and not both")
		}
		return ask(ctx, c, http.MethodPost, "/mqttusers", body, func(w io.Writer, user mqttUser) {
			if user.Discovery != "" {
				fmt.Fprintf(w, "%s\n\nMQTT user %s: that is its password, it is not shown again. It reads %s/# and %s/#, and writes commands and %[3]s/status.\n", user.Secret, user.Name, user.Discovery, user.TopicPrefix)
				return
			}
			fmt.Fprintf(w, "%s\n\nMQTT user %s: that is its password, it is not shown again. Its topics are those below %s/.\n", user.Secret, user.Name, user.TopicPrefix)
		})
	})
}

func showMQTTUsers(w io.Writer, users []store.IntegrationUser) {
	fmt.Fprintln(w, "NAME\tTOPICS\tCREATED")
	for _, u := range users {
		topics := u.TopicPrefix + "/#"
		if u.Discovery != "" {
			topics = u.Discovery + "/# " + topics
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", u.Name, topics, when(u.CreatedAt))
	}
}
