package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/notify"
)

type boxMailLine struct {
	ID        uint64       `json:"id" example:"41"`
	Kind      string       `json:"kind" doc:"Code" example:"reset"`
	To        string       `json:"to" doc:"Address" example:"mum@example.com"`
	State     notify.State `json:"state" doc:"Code" example:"waiting"`
	CreatedAt motion.Time  `json:"created_at" example:"1764000060"`
	Attempts  int          `json:"attempts" example:"2"`
	LastError string       `json:"last_error" doc:"In the words of the mail server; empty: none"`
}

type lostPhone struct {
	ID        home.MobileID `json:"id" example:"5"`
	Name      string        `json:"name" example:"Pixel"`
	FailedAt  motion.Time   `json:"failed_at" example:"1764000060"`
	LastError string        `json:"last_error"`
}

type boxMailsOut struct {
	Body struct {
		Mails   []boxMailLine `json:"mails" nullable:"false" doc:"The newest first"`
		GivenUp []lostPhone   `json:"pushes_given_up" nullable:"false" doc:"Phones whose last push failed for good"`
	}
}

func (b *Browser) boxMails(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxMailsOut, error) {
	list, err := b.Box.Outbox(ctx)
	out := &boxMailsOut{}
	out.Body.Mails, out.Body.GivenUp = []boxMailLine{}, []lostPhone{}
	for _, m := range list.Mails {
		out.Body.Mails = append(out.Body.Mails, boxMailLine{
			ID: m.ID, Kind: string(m.Kind), To: m.Address, State: m.State, CreatedAt: motion.TimeOf(m.CreatedAt.Std()), Attempts: m.Attempts, LastError: m.LastError,
		})
	}
	for _, d := range list.GivenUp {
		out.Body.GivenUp = append(out.Body.GivenUp, lostPhone{ID: d.ID, Name: d.Name, FailedAt: motion.TimeOf(d.FailedAt.Std()), LastError: d.LastError})
	}
	return out, err
}

type mailPath struct {
	ID uint64 `path:"id" minimum:"1" doc:"Of the mail" example:"41"`
}

type boxMailOut struct {
	Body struct {
		ID      uint64 `json:"id" example:"41"`
		To      string `json:"to" example:"mum@example.com"`
		Subject string `json:"subject" example:"Set a new password"`
		Text    string `json:"text"`
		Link    string `json:"link" doc:"Opens what the mail is about; empty: none, or it has expired" example:"http://192.168.1.20:8080/reset#t=…"`
	}
}

func (b *Browser) boxMail(ctx context.Context, who auth.Administrator, in *mailPath) (*boxMailOut, error) {
	m, err := b.Box.ReadMail(ctx, who.Actor, in.ID)
	if err != nil {
		return nil, err
	}
	out := &boxMailOut{}
	out.Body.ID, out.Body.To, out.Body.Subject, out.Body.Text, out.Body.Link = m.ID, m.Address, m.Subject, notify.Text(m.Mail), m.Link
	return out, nil
}

type setupCodeOut struct {
	Body struct {
		Code string `json:"code" doc:"Makes one account the owner of a first network; earlier codes stop working" example:"7K2M-Q9XA-04TZ"`
		Link string `json:"link" doc:"Opens the app and fills the code in; empty: the appliance has no address in a private network" example:"http://192.168.1.20:8080/#setup=7K2M-Q9XA-04TZ"`
	}
}

func (b *Browser) newSetupCode(ctx context.Context, who auth.Administrator, _ *struct{}) (*setupCodeOut, error) {
	made, err := b.Box.SetupCode(ctx, who.Actor)
	out := &setupCodeOut{}
	out.Body.Code, out.Body.Link = made.Code, made.Link
	return out, err
}
