package browser

import (
	"context"
	"log/slog"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion"
)

type boxLogIn struct {
	Level  string `query:"level" enum:"debug,info,warn,error" default:"info" doc:"Only lines of this level and above"`
	Before uint64 `query:"before" doc:"Only lines with a smaller id; 0: from the newest" example:"120"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"200" doc:"How many"`
}

type boxLogLine struct {
	ID    uint64      `json:"id" doc:"1 for the first since the start" example:"41"`
	At    motion.Time `json:"at" example:"1764000060.512"`
	Level string      `json:"level" enum:"debug,info,warn,error" example:"warn"`
	Text  string      `json:"text" doc:"The message, then its values as key=value" example:"mail not sent mail=41"`
}

type boxLogOut struct {
	Body struct {
		Lines []boxLogLine `json:"lines" nullable:"false" doc:"The newest first"`
		Level string       `json:"level" enum:"debug,info,warn,error" doc:"The lowest that is logged" example:"info"`
		More  bool         `json:"more" doc:"Whether there are older ones"`
	}
}

func (b *Browser) boxLog(_ context.Context, _ auth.Administrator, in *boxLogIn) (*boxLogOut, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(in.Level)); err != nil {
		return nil, err
	}
	lines, lowest, more := b.Box.LogLines(least, in.Before, in.Limit)
	out := &boxLogOut{}
	out.Body.Lines, out.Body.Level, out.Body.More = []boxLogLine{}, levelWord(lowest), more
	for _, l := range lines {
		out.Body.Lines = append(out.Body.Lines, boxLogLine{l.ID, motion.TimeOf(l.At), levelWord(l.Level), l.Text})
	}
	return out, nil
}

// levelWord returns the word of the nearest of the four levels below.
func levelWord(level slog.Level) string {
	for _, named := range []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo} {
		if level >= named {
			return strings.ToLower(named.String())
		}
	}
	return "debug"
}
