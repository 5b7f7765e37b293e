package app

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion/home"
)

type inviteIn struct {
	Body struct {
		BodyNetwork
		Emails []string `json:"emails" minItems:"1" maxItems:"50" nullable:"false" doc:"Addresses to invite" example:"[\"a@example.com\"]"`
	}
}

type inviteOut struct {
	Body struct {
		FailedEmails []string `json:"failed_emails" nullable:"false" doc:"Those that were not invited: no addresses, members already, over 50 open invitations, or over 3 mails a day to the address or 50 an hour from the network"`
	}
}

func (a *App) inviteMembers(ctx context.Context, o auth.Owner, in *inviteIn) (*inviteOut, error) {
	var out inviteOut
	var err error
	out.Body.FailedEmails, err = a.Household.Invite(ctx, o.Home, o.ID, in.Body.Emails)
	return &out, err
}

func (a *App) invitations(ctx context.Context, m auth.Member, _ *NetworkQuery) (*list[home.Invitation], error) {
	return listed(a.Household.Invitations(ctx, m.Home))
}

type invitationIn struct {
	ID home.InvitationID `path:"id" doc:"Invitation id" example:"5"`
}

func (a *App) deleteInvitation(ctx context.Context, _ auth.Owner, in *invitationIn) (*struct{}, error) {
	return nil, a.Household.Withdraw(ctx, in.ID)
}
