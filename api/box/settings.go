package box

// Origin is what gives a setting its value.
type Origin string

// Origins of settings.
const (
	OfDefault     Origin = "default"
	OfFile        Origin = "file"
	OfEnvironment Origin = "environment"
)

// Settings is the configuration that the appliance was started with.
type Settings struct {
	File string    `json:"file"`     // path of the configuration file; empty: there is none
	List []Setting `json:"settings"` // part by part
}

// Setting is one key of the configuration.
type Setting struct {
	Key      string  `json:"key"`      // such as http.listen, or auth.providers.0.name in a list
	Value    *string `json:"value"`    // in force; null: a secret
	Set      bool    `json:"set"`      // whether it has a value that is not empty
	Secret   bool    `json:"secret"`   // its value is not shown
	Origin   Origin  `json:"origin"`   // what gives it its value
	Line     *int    `json:"line"`     // of the file; null: not set there
	Variable *string `json:"variable"` // of the environment; null: not set there
	Standard string  `json:"standard"` // the value without configuration
}

// Settings returns the configuration of the running appliance, without secrets.
func (b *Box) Settings() Settings {
	if b.Configured == nil {
		return Settings{List: []Setting{}}
	}
	return b.Configured()
}
