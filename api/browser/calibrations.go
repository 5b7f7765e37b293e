package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
)

// CalibrationView is what a link knows of its quiet.
type CalibrationView struct {
	ID       string       `json:"id" doc:"Of the link" example:"GWA1000133.02bb00000031"`
	Outcome  string       `json:"outcome" enum:"none,running,done,disturbed,cancelled,failed,repeat" doc:"Of its last calibration; disturbed: somebody seems to have moved; cancelled: what was known before is in force; failed: too little data came; repeat: one of disturbed and failed, for an installer"`
	Progress *float64     `json:"progress" nullable:"true" doc:"Of a running one, 0 to 1; it goes on with the link's data" example:"0.4"`
	At       *motion.Time `json:"at" nullable:"true" doc:"End of the one in force" example:"1764000000"`
}

type calibrationsOut struct {
	Body struct {
		Calibrations []CalibrationView `json:"calibrations" nullable:"false" doc:"Of each link that is heard or was calibrated"`
	}
}

func (b *Browser) calibrations(ctx context.Context, who auth.Installer, _ *SetupQuery) (*calibrationsOut, error) {
	links, err := b.Household.Links(ctx, who.Network, viewer(who))
	out := &calibrationsOut{}
	out.Body.Calibrations = []CalibrationView{}
	for i := range links {
		if l := &links[i]; l.Source != "" || l.Outcome != "none" {
			out.Body.Calibrations = append(out.Body.Calibrations, CalibrationView{l.Link, l.Outcome, l.Progress, knownTime(l.CalibratedAt)})
		}
	}
	return out, err
}

type calibrateIn struct {
	Body struct {
		SetupField
		Link string `json:"link,omitempty" maxLength:"256" doc:"Empty: all links" example:"GWA1000133.02bb00000031"`
	}
}

func (b *Browser) calibrate(ctx context.Context, who auth.Installer, in *calibrateIn) (*calibrationsOut, error) {
	if err := b.Household.Calibrate(ctx, who.Network, viewer(who), in.Body.Link); err != nil {
		return nil, err
	}
	return b.calibrations(ctx, who, nil)
}

type endCalibrationsIn struct {
	SetupQuery
	Link string `query:"link" maxLength:"256" doc:"Empty: all links" example:"GWA1000133.02bb00000031"`
}

func (b *Browser) endCalibrations(ctx context.Context, who auth.Installer, in *endCalibrationsIn) (*struct{}, error) {
	return nil, b.Household.CancelCalibration(ctx, who.Network, viewer(who), in.Link)
}
