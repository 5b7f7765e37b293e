package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

type installersOut struct {
	Body struct {
		Installers []shownInstaller `json:"installers" nullable:"false" doc:"The newest last"`
	}
}

type shownInstaller struct {
	User  home.UserID `json:"user" doc:"User id" example:"12"`
	Name  string      `json:"name" example:"Robin Roe"`
	Until motion.Time `json:"until" doc:"When it ends by itself" example:"1764600000"`
	By    string      `json:"by" doc:"Name of the owner who let them in, or their own: they owned the home before; empty: not known" example:"J Doe"`
}

// shownInstallers returns who may look after the devices of a home.
func shownInstallers(tx *store.Tx, id home.ID) ([]shownInstaller, error) {
	house, err := tx.Home(id)
	if err != nil {
		return nil, err
	}
	list, err := household.Installers(tx, house)
	shown := []shownInstaller{}
	for _, i := range list {
		shown = append(shown, shownInstaller{User: i.User, Name: i.Name, Until: i.Until, By: i.ByName})
	}
	return shown, err
}

func (b *Browser) installers(ctx context.Context, who auth.Member, _ *HomeQuery) (*installersOut, error) {
	out := &installersOut{}
	err := b.DB.View(ctx, func(tx *store.Tx) (err error) {
		out.Body.Installers, err = shownInstallers(tx, who.Home)
		return err
	})
	return out, err
}

type removeInstallerIn struct {
	HomeQuery
	User home.UserID `path:"user" minimum:"1" doc:"User id" example:"12"`
}

// removeInstaller is for the owner, and for an installer about themselves: others are not theirs
// to know of.
func (b *Browser) removeInstaller(ctx context.Context, who auth.Installer, in *removeInstallerIn) (*struct{}, error) {
	if who.Role != home.OwnerRole && in.User != who.ID {
		return nil, fault.New(fault.Forbidden, "only the owner of the network removes another installer")
	}
	return nil, b.Household.RemoveInstaller(ctx, who.Home, in.User, who.ID)
}

// installedHome is a home that somebody installs, for their export.
type installedHome struct {
	Network home.ID     `json:"network_id"`
	Name    string      `json:"name"`
	Since   motion.Time `json:"since"`
	Until   motion.Time `json:"until"`
}

func installedHomes(tx *store.Tx, user home.UserID) ([]installedHome, error) {
	homes, err := tx.HomesInstalledBy(user)
	list := []installedHome{}
	for _, h := range homes {
		for _, i := range h.Installers {
			if i.User == user {
				list = append(list, installedHome{h.ID, h.Name, i.Since, i.Until})
			}
		}
	}
	return list, err
}
