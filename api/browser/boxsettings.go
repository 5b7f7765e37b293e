package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/motion"
)

type boxSetting struct {
	Key      string     `json:"key" doc:"Such as auth.providers.0.name in a list" example:"http.listen"`
	Value    *string    `json:"value" nullable:"true" doc:"In force, a list with commas, at most 300 bytes; without what opens something in addresses. null: a secret" example:":80"`
	Set      bool       `json:"set" doc:"Whether it has a value that is not empty" example:"true"`
	Secret   bool       `json:"secret" doc:"Whether its value is not shown"`
	Origin   box.Origin `json:"origin" enum:"default,file,environment" example:"file"`
	Line     *int       `json:"line" nullable:"true" doc:"Of the file; null: the file does not decide" example:"12"`
	Variable *string    `json:"variable" nullable:"true" doc:"Of the environment; null: the environment does not decide"`
	Standard string     `json:"standard" doc:"The value without configuration" example:":8080"`
}

type boxSettingsOut struct {
	Body struct {
		File     string       `json:"file" doc:"Path of the configuration file; empty: there is none" example:"/etc/sensegate/config.yaml"`
		Settings []boxSetting `json:"settings" nullable:"false"`
	}
}

func (b *Browser) boxSettings(context.Context, auth.Administrator, *struct{}) (*boxSettingsOut, error) {
	all := b.Box.Settings()
	out := &boxSettingsOut{}
	out.Body.File, out.Body.Settings = all.File, []boxSetting{}
	for _, s := range all.List {
		out.Body.Settings = append(out.Body.Settings, boxSetting(s))
	}
	return out, nil
}

type boxBackupsOut struct {
	Body struct {
		Backups   []boxBackup `json:"backups" nullable:"false" doc:"The newest first"`
		Directory string      `json:"directory" doc:"Where they lie" example:"/var/lib/sensegate/backups"`
	}
}

func (b *Browser) boxBackups(context.Context, auth.Administrator, *struct{}) (*boxBackupsOut, error) {
	list, directory, err := b.Box.Backups()
	out := &boxBackupsOut{}
	out.Body.Backups, out.Body.Directory = []boxBackup{}, directory
	for _, made := range list {
		out.Body.Backups = append(out.Body.Backups, boxBackup{motion.TimeOf(made.At), made.Size})
	}
	return out, err
}
