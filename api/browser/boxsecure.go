package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
)

type boxSecureOut struct {
	Body struct {
		Page      string       `json:"page" doc:"https address of the app; empty: nothing listens" example:"https://192.168.1.20:8443/"`
		Own       bool         `json:"own_authority" doc:"Whether the certificate is from the appliance's own authority"`
		Authority string       `json:"ca_sha256" doc:"Fingerprint of that, in hexadecimal with colons"`
		CA        string       `json:"ca" doc:"Where its certificate is" example:"/ca.pem"`
		Ends      *motion.Time `json:"ends_at" nullable:"true" doc:"When the certificate that is shown ends; one of the appliance is renewed in time" example:"1795536060"`
		Names     []string     `json:"names" nullable:"false" doc:"The host names and then the addresses that the certificate is for"`
	}
}

func (b *Browser) boxSecure(context.Context, auth.Administrator, *struct{}) (*boxSecureOut, error) {
	s := b.Box.Secure()
	out := &boxSecureOut{}
	o := &out.Body
	o.Page, o.Own, o.Authority, o.CA, o.Ends, o.Names = s.Page, s.Own, s.Authority, "/ca.pem", knownTime(s.Ends), s.Names
	if o.Names == nil {
		o.Names = []string{}
	}
	return out, nil
}

type secureCheck struct {
	Code string `json:"code" enum:"listens,certificate_valid,chain,names,clock" example:"chain"`
	OK   bool   `json:"ok" example:"true"`
	Text string `json:"text" doc:"What was found and, where it is wrong, what to do"`
}

type secureTestOut struct {
	Body struct {
		Checks []secureCheck `json:"checks" nullable:"false"`
	}
}

func (b *Browser) testSecure(ctx context.Context, _ auth.Administrator, _ *struct{}) (*secureTestOut, error) {
	out := &secureTestOut{}
	out.Body.Checks = []secureCheck{}
	for _, c := range b.Box.TestSecure(ctx) {
		out.Body.Checks = append(out.Body.Checks, secureCheck(c))
	}
	return out, nil
}
