package browser

import (
	"context"
	"net/http"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/api/caller"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// administrator is for whoever looks after the appliance.
func administrator[In, Out any](fn func(context.Context, auth.Administrator, In) (Out, error)) api.Operation {
	return api.Guarded("administrator", fn)
}

// proven is administrator for what could harm the household: the password was shown in the last ten
// minutes.
func proven[In, Out any](b *Browser, fn func(context.Context, auth.Administrator, In) (Out, error)) api.Operation {
	return administrator(func(ctx context.Context, who auth.Administrator, in In) (out Out, err error) {
		if err := b.Accounts.StepUp(ctx, who.User, ""); err != nil {
			return out, err
		}
		return fn(ctx, who, in)
	})
}

// administering is the rows for administrators.
func (b *Browser) administering() []api.Route {
	if b.Admin == caller.AdminOff {
		return nil
	}
	return api.Group("The appliance",
		api.Get("/admin/status", administrator(b.boxStatus), "How the appliance is, and what needs attention"),
		api.Get("/admin/accounts", administrator(b.boxAccounts), "The accounts"),
		api.Post("/admin/accounts", proven(b, b.newAccount), "Make an account").Answering(http.StatusCreated),
		api.Post("/admin/accounts/{id}/password", proven(b, b.setAccountPassword), "Give an account a new password"),
		api.Put("/admin/accounts/{id}/administrator", proven(b, b.setAdministrator), "Make an account administrator, or end that"),
		api.Delete("/admin/accounts/{id}", proven(b, b.deleteAccount), "Delete an account"),
		api.Get("/admin/keys", administrator(b.boxKeys), "The API keys"),
		api.Post("/admin/keys", proven(b, b.newKey), "Make an API key").Answering(http.StatusCreated),
		api.Delete("/admin/keys/{id}", proven(b, b.revokeKey), "Revoke an API key"),
		api.Get("/admin/mqtt-users", administrator(b.boxMQTTUsers), "The MQTT users that are no devices"),
		api.Post("/admin/mqtt-users", proven(b, b.newMQTTUser), "Make an MQTT user").Answering(http.StatusCreated),
		api.Delete("/admin/mqtt-users/{name}", proven(b, b.removeMQTTUser), "Remove an MQTT user"),
		api.Get("/admin/uplinks", administrator(b.boxUplinks), "What is sent to other brokers and services, and how that goes"),
		api.Post("/admin/uplinks", proven(b, b.newUplink), "Make an uplink"),
		api.Post("/admin/uplinks/test", proven(b, b.tryUplink), "Try an uplink before it is made"),
		api.Post("/admin/uplinks/{name}/test", administrator(b.testUplink), "Try an uplink"),
		api.Put("/admin/uplinks/{name}", proven(b, b.changeUplink), "Change an uplink"),
		api.Delete("/admin/uplinks/{name}", proven(b, b.removeUplink), "Remove an uplink"),
		api.Get("/admin/mails", administrator(b.boxMails), "The mails"),
		api.Get("/admin/mails/{id}", proven(b, b.boxMail), "Read a mail"),
		api.Post("/admin/setup-code", proven(b, b.newSetupCode), "Make a setup code").Answering(http.StatusCreated),
		api.Get("/admin/devices", administrator(b.boxDevices), "All devices of the appliance"),
		api.Post("/admin/devices/{entry}/adopt", administrator(b.boxAdopt), "Let in a device that waits"),
		api.Delete("/admin/devices/{id}", administrator(b.boxRemoveDevice), "Remove a device"),
		api.Post("/admin/adoption", administrator(b.boxOpenAdoption), "Let new devices in for a time"),
		api.Get("/admin/links", administrator(b.boxLinks), "Which links sense, and why others cannot"),
		api.Post("/admin/calibrations", administrator(b.boxCalibrate), "Calibrate links"),
		api.Delete("/admin/calibrations", administrator(b.boxEndCalibrations), "End calibrations under way"),
		api.Get("/admin/recordings", administrator(b.boxRecordings), "The recordings of the homes where the caller lives"),
		api.Post("/admin/recordings", proven(b, b.record), "Record raw CSI").Answering(http.StatusCreated),
		api.Put("/admin/recordings/label", administrator(b.labelRecording), "Say what happens while a recording runs"),
		api.Post("/admin/recordings/stop", administrator(b.stopRecording), "End the recording that runs"),
		api.Post("/admin/recordings/{name}/download", proven(b, b.downloadRecording), "Download a recording"),
		api.Delete("/admin/recordings/{name}", proven(b, b.deleteRecording), "Delete a recording"),
		api.Get("/admin/audit", administrator(b.audit), "Who has changed what"),
		api.Get("/admin/settings", administrator(b.boxSettings), "The configuration, and where each value comes from"),
		api.Post("/admin/backup", proven(b, b.backup), "Download a backup"),
		api.Get("/admin/restore", administrator(b.restoring), "The backup that was uploaded, and what came of the last restore"),
		api.Post("/admin/restore", proven(b, b.stage), "Upload a backup").Answering(http.StatusCreated),
		api.Delete("/admin/restore", administrator(b.dropStaged), "Drop the uploaded backup"),
		api.Post("/admin/restore/apply", proven(b, b.applyStaged), "Restore the uploaded backup"),
		api.Get("/admin/backups", administrator(b.boxBackups), "The backups that the appliance has made by itself"),
		api.Get("/admin/secure", administrator(b.boxSecure), "How the appliance is reached encrypted"),
		api.Post("/admin/secure/test", administrator(b.testSecure), "Try the encrypted connection"),
		api.Get("/admin/log", administrator(b.boxLog), "The last lines of the log"),
		api.Get("/admin/database", administrator(b.boxDatabase), "What the database holds"),
		api.Post("/admin/database/check", administrator(b.checkDatabase), "Verify the database"),
		api.Post("/admin/support", proven(b, b.support), "Download a support bundle"),
	)
}

type boxAccount struct {
	ID            home.UserID `json:"id" example:"7"`
	Email         string      `json:"email" example:"jdoe@example.com"`
	FirstName     string      `json:"first_name" example:"J"`
	LastName      string      `json:"last_name" example:"Doe"`
	Confirmed     bool        `json:"confirmed" doc:"Whether they have confirmed the address"`
	CreatedAt     motion.Time `json:"created_at" example:"1764000060"`
	Administrator bool        `json:"administrator"`
	You           bool        `json:"you" doc:"Whether it is the caller's"`
	Homes         int         `json:"homes" doc:"That they belong to" example:"1"`
	Owns          int         `json:"owns" doc:"Of them" example:"1"`
	Sessions      int         `json:"sessions" doc:"Devices that are signed in" example:"2"`
}

type boxAccountsOut struct {
	Body struct {
		Accounts []boxAccount `json:"accounts" nullable:"false" doc:"The oldest first"`
	}
}

func (b *Browser) boxAccounts(ctx context.Context, who auth.Administrator, _ *struct{}) (*boxAccountsOut, error) {
	list, err := b.Box.Accounts(ctx)
	out := &boxAccountsOut{}
	out.Body.Accounts = []boxAccount{}
	for _, a := range list {
		out.Body.Accounts = append(out.Body.Accounts, boxAccount{
			ID: a.ID, Email: a.Email, FirstName: a.FirstName, LastName: a.LastName, Confirmed: a.Confirmed(), CreatedAt: motion.TimeOf(a.CreatedAt.Std()),
			Administrator: a.Administrator, You: a.ID == who.ID, Homes: a.Homes, Owns: a.Owns, Sessions: a.Sessions,
		})
	}
	return out, err
}

type newAccountIn struct {
	Body struct {
		Email string `json:"email" maxLength:"254" doc:"Of the person" example:"mum@example.com"`
	}
}

type newAccountOut struct {
	Body struct {
		ID       home.UserID `json:"id" example:"8"`
		Email    string      `json:"email" example:"mum@example.com"`
		Password string      `json:"password" doc:"Is not shown again" example:"q3ZlY2hzIGRydW5r"`
	}
}

func (b *Browser) newAccount(ctx context.Context, who auth.Administrator, in *newAccountIn) (*newAccountOut, error) {
	out := &newAccountOut{}
	out.Body.Password = box.NewPassword()
	u, err := b.Box.CreateAccount(ctx, who.Actor, in.Body.Email, out.Body.Password)
	out.Body.ID, out.Body.Email = u.ID, u.Email
	return out, err
}

// AccountPath names an account.
type AccountPath struct {
	ID home.UserID `path:"id" minimum:"1" doc:"User id" example:"8"`
}

type passwordOut struct {
	Body struct {
		Password string `json:"password" doc:"Is not shown again" example:"q3ZlY2hzIGRydW5r"`
	}
}

func (b *Browser) setAccountPassword(ctx context.Context, who auth.Administrator, in *AccountPath) (*passwordOut, error) {
	u, err := store.Read(ctx, b.DB, func(tx *store.Tx) (home.User, error) { return tx.User(in.ID) })
	if err != nil {
		return nil, err
	}
	out := &passwordOut{}
	out.Body.Password = box.NewPassword()
	_, err = b.Box.SetPassword(ctx, who.Actor, u.Email, out.Body.Password)
	return out, err
}

type administratorIn struct {
	AccountPath
	Body struct {
		Administrator bool `json:"administrator" doc:"Whether they look after the appliance"`
	}
}

func (b *Browser) setAdministrator(ctx context.Context, who auth.Administrator, in *administratorIn) (*struct{}, error) {
	return nil, b.Box.SetAdministrator(ctx, who.Actor, in.ID, in.Body.Administrator)
}

type deleteAccountIn struct {
	AccountPath
	Networks bool `query:"networks" doc:"Disown the homes that they own; otherwise a member owns them from then on"`
}

func (b *Browser) deleteAccount(ctx context.Context, who auth.Administrator, in *deleteAccountIn) (*struct{}, error) {
	return nil, b.Box.DeleteAccount(ctx, who.Actor, in.ID, household.Leaving{Disown: in.Networks})
}

type auditIn struct {
	Before uint64 `query:"before" doc:"Only lines with a smaller id; 0: from the newest" example:"120"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many"`
}

type auditLine struct {
	ID      uint64            `json:"id" example:"119"`
	At      motion.Time       `json:"at" example:"1764000060.5"`
	Action  string            `json:"action" doc:"Code" example:"key_revoked"`
	About   string            `json:"about" doc:"Name, address or id of what was changed; empty: the appliance" example:"homeassistant"`
	Who     auditWho          `json:"who"`
	From    string            `json:"from" doc:"IP address; empty: the appliance itself" example:"192.168.1.31"`
	Details map[string]string `json:"details" nullable:"false" doc:"What else is worth knowing, never a secret" example:"{}"`
}

type auditWho struct {
	Kind   store.ActorKind `json:"kind" enum:"account,terminal,box,uplink"`
	UserID *home.UserID    `json:"user_id" nullable:"true" doc:"null: no account" example:"7"`
	Name   string          `json:"name" doc:"Address of the account then, or name of the system's user; empty: the account was deleted" example:"jdoe@example.com"`
}

type auditOut struct {
	Body struct {
		Lines []auditLine `json:"lines" nullable:"false" doc:"The newest first"`
		More  bool        `json:"more" doc:"Whether there are older ones"`
	}
}

func (b *Browser) audit(ctx context.Context, _ auth.Administrator, in *auditIn) (*auditOut, error) {
	lines, more, err := b.Box.Audit(ctx, in.Before, in.Limit)
	out := &auditOut{}
	out.Body.Lines, out.Body.More = []auditLine{}, more
	for _, l := range lines {
		shown := auditLine{ID: l.ID, At: l.At, Action: l.Action, About: l.About, Who: auditWho{Kind: l.Who.Kind, Name: l.Who.Name}, From: l.From, Details: l.Details}
		if l.Who.UserID != 0 {
			shown.Who.UserID = &l.Who.UserID
		}
		if shown.Details == nil {
			shown.Details = map[string]string{}
		}
		out.Body.Lines = append(out.Body.Lines, shown)
	}
	return out, err
}
