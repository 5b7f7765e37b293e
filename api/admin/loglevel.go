package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// logLevel is what the log holds at least.
type logLevel struct {
	Level slog.Level `json:"level"`
}

func (s *Server) serveLogLevel(*http.Request) (any, error) { return logLevel{s.box.LogLevel()}, nil }

func (s *Server) serveSetLogLevel(r *http.Request, wanted logLevel) (any, error) {
	return wanted, s.box.SetLogLevel(r.Context(), wanted.Level, actor(r))
}

// changeLogLevel shows what the log holds, or changes it.
func changeLogLevel(ctx context.Context, c command, arguments []string) error {
	var now, wanted logLevel
	method, body := http.MethodGet, any(nil)
	switch len(arguments) {
	case 0:
	case 1:
		if err := wanted.Level.UnmarshalText([]byte(arguments[0])); err != nil {
			return fmt.Errorf("log level %.40q: want debug, info, warn or error", arguments[0])
		}
		method, body = http.MethodPut, wanted
	default:
		return fmt.Errorf("log level: want one of debug, info, warn and error")
	}
	if err := c.client.do(ctx, method, "/log/level", body, &now); err != nil {
		return err
	}
	return c.print(now, func(w io.Writer) { fmt.Fprintln(w, strings.ToLower(now.Level.String())) })
}
