package browser

import (
	"context"
	"sort"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/insights"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// maxNodeNames is how many names of nodes of a home stand in an answer.
const maxNodeNames = 20

// settingUp is the part of the interface that sets homes up.
func (b *Browser) settingUp() []api.Route {
	return api.Group("Setting up",
		api.Get("/setup", user(b.setup), "What the caller may set up"),
		api.Post("/setup/code-check", anyone(b.checkSetupCode), "Whether a setup code is right"),
		api.Post("/setup/code", user(b.showSetupCode), "Show the setup code"),
		api.Post("/setup/claim", user(b.claimHome), "Claim a home, with its name and time zone"),
		api.Put("/setup/step", installer(b.putSetupStep), "Keep what is to be done next"),
		api.Get("/installers", member(b.installers), "Who may look after the devices of the home"),
		api.Delete("/installers/{user}", installer(b.removeInstaller), "End an installation"),
	)
}

type setupOut struct {
	Body struct {
		Code      bool        `json:"code" doc:"The caller has shown the setup code, or the administrator has made their account: they may claim"`
		Claimable []claimable `json:"claimable" nullable:"false" doc:"Homes that nobody owns, the one heard last first; empty without code"`
		Homes     []setupHome `json:"homes" nullable:"false" doc:"That the caller owns, then those that they install"`
		Address   string      `json:"address" doc:"Of the appliance, for devices that do not resolve its name" example:"http://192.168.1.20:8080"`
	}
}

type claimable struct {
	ID     home.ID      `json:"id" doc:"App Cloud network id" example:"17"`
	Name   string       `json:"name" doc:"Empty: none was given"`
	Nodes  int          `json:"nodes" doc:"Nodes of the network" example:"3"`
	Names  []string     `json:"names" nullable:"false" maxItems:"20" doc:"Of the nodes, the first ones" example:"[\"Gateway\"]"`
	Online int          `json:"online" doc:"Nodes that are connected" example:"2"`
	Heard  *motion.Time `json:"heard" nullable:"true" doc:"The last sign of life of the network; null: none" example:"1764000000"`
}

type setupHome struct {
	ID    home.ID        `json:"id" doc:"App Cloud network id" example:"17"`
	Name  string         `json:"name" doc:"Empty: none was given" example:"Home"`
	Zone  string         `json:"timezone" doc:"IANA name of the time zone" example:"Europe/Berlin"`
	Role  string         `json:"role" enum:"owner,installer"`
	Until *motion.Time   `json:"until" nullable:"true" doc:"When the installation ends by itself; null: the caller owns the home" example:"1764600000"`
	Step  home.SetupStep `json:"step" enum:",devices,rooms,walk,handover" doc:"What is to be done next; empty: the home is set up"`
}

func (b *Browser) setup(ctx context.Context, who auth.User, _ *struct{}) (*setupOut, error) {
	s, err := b.Household.Setup(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	out := &setupOut{}
	out.Body.Code, out.Body.Claimable, out.Body.Homes = s.Code, []claimable{}, []setupHome{}
	out.Body.Address = b.Address()
	sort.SliceStable(s.Claimable, func(i, j int) bool { return s.Claimable[j].Heard < s.Claimable[i].Heard })
	for _, c := range s.Claimable {
		out.Body.Claimable = append(out.Body.Claimable, claimable{
			ID: c.ID, Name: c.Name, Nodes: len(c.Nodes), Names: append([]string{}, c.Nodes[:min(len(c.Nodes), maxNodeNames)]...),
			Online: c.Online, Heard: unlessZero(c.Heard),
		})
	}
	for _, h := range s.Homes {
		role := "owner"
		if !h.Until.IsZero() {
			role = "installer"
		}
		out.Body.Homes = append(out.Body.Homes, setupHome{ID: h.ID, Name: h.Name, Zone: h.Timezone, Role: role, Until: unlessZero(h.Until), Step: h.SetupStep})
	}
	return out, nil
}

// unlessZero returns a time that is known.
func unlessZero(t motion.Time) *motion.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type setupCodeIn struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"64" doc:"That the appliance shows" example:"7K2M-Q9XA-04TZ"`
	}
}

// checkSetupCode tells a mistyped code before an account is filled in. It counts as a try like the other
// ways to show one, so that nobody guesses faster by it.
func (b *Browser) checkSetupCode(ctx context.Context, who auth.Anyone, in *setupCodeIn) (*struct{}, error) {
	judge, err := b.Accounts.TryCode(who.Address)
	if err != nil {
		return nil, err
	}
	err = b.DB.View(ctx, func(tx *store.Tx) error { return tx.CheckSetupCode(in.Body.Code) })
	judge(err)
	return nil, err
}

func (b *Browser) showSetupCode(ctx context.Context, who auth.User, in *setupCodeIn) (*struct{}, error) {
	judge, err := b.Accounts.TryCode(who.Address)
	if err != nil {
		return nil, err
	}
	err = b.DB.Update(ctx, func(tx *store.Tx) error { return tx.RedeemSetupCode(in.Body.Code, who.ID) })
	judge(err)
	return nil, err
}

type claimIn struct {
	Body struct {
		Network  home.ID `json:"network_id" minimum:"1" doc:"App Cloud network id" example:"17"`
		Name     string  `json:"name" maxLength:"100" doc:"What the household calls the home; not blank" example:"Home"`
		Timezone string  `json:"timezone" minLength:"1" maxLength:"64" doc:"IANA name of the time zone" example:"Europe/Berlin"`
	}
}

// Mistakes returns what no schema can tell.
func (in *claimIn) Mistakes() []fault.Detail {
	var mistakes fault.Details
	if in.Body.Name == "" {
		mistakes.Add("body.name", in.Body.Name, "want a name")
	}
	if _, err := insights.LoadZone(in.Body.Timezone); err != nil {
		mistakes.Add("body.timezone", in.Body.Timezone, "%s", err)
	}
	return mistakes
}

type claimOut struct {
	Body struct {
		Network home.ID `json:"network_id" doc:"App Cloud network id" example:"17"`
	}
}

func (b *Browser) claimHome(ctx context.Context, who auth.User, in *claimIn) (*claimOut, error) {
	name := strings.TrimSpace(in.Body.Name)
	var wrong fault.Details
	home.CheckName(&wrong, "body.name", in.Body.Name, "")
	if err := home.NameFault(wrong); err != nil {
		return nil, err
	}
	err := b.Household.SetUp(ctx, in.Body.Network, who.ID, household.Proof{Local: who.Local}, name, in.Body.Timezone)
	if err != nil {
		return nil, err
	}
	out := &claimOut{}
	out.Body.Network = in.Body.Network
	return out, nil
}

type setupStepIn struct {
	Body struct {
		Network home.ID        `json:"network_id" minimum:"1" doc:"App Cloud network id" example:"17"`
		Step    home.SetupStep `json:"step" enum:",devices,rooms,walk,handover" doc:"What is to be done next; empty: the home is set up" example:"rooms"`
	}
}

func (b *Browser) putSetupStep(ctx context.Context, who auth.Installer, in *setupStepIn) (*struct{}, error) {
	return nil, b.Household.PutSetupStep(ctx, who.Home, in.Body.Step, viewer(who).Resident)
}
