package appliance

import (
	"net/http"
	"slices"
	"time"

	"sensegate/api"
	"sensegate/api/admin"
	"sensegate/api/pki"
)

// openCertificates opens the certificates and sets them in the listeners' configurations.
func (a *Appliance) openCertificates() (err error) {
	a.certs, err = pki.Open(pki.Options{
		Dir:      admin.Certificates(a.config.StateDir),
		Supplied: a.config.TLS,
		Names:    func() pki.Names { return pki.HostNames(slices.Concat(a.config.HTTP.Names(), a.announced())) },
		Now:      time.Now,
		Log:      a.log,
	})
	if err != nil {
		return err
	}
	a.config.HTTP.TLS, a.config.MQTT.TLS = a.certs.Listener, a.certs.Listener
	return nil
}

// ReloadCertificate reads the owner's certificate again, if one is configured. It does not
// wait; the result is logged.
func (a *Appliance) ReloadCertificate() { a.certs.Reload() }

// sayTLS logs the TLS addresses and the fingerprint of the authority that clients have to
// trust.
func (a *Appliance) sayTLS() {
	https, mqtts := a.http.TLSAddr(), a.broker.TLSAddr()
	spoken := []any{"https", https, "mqtts", mqtts}
	if a.core != nil && a.core.TLSAddr() != nil {
		spoken = append(spoken, "core", a.core.TLSAddr())
	} else if https == nil && mqtts == nil {
		return
	}
	a.log.Info("tls", append(spoken, "authority", "/ca.pem", "sha256", a.certs.Fingerprint())...)
}

// authority serves the certificate of the appliance's authority, which is public,
// under the type that phones and browsers offer to install.
func (a *Appliance) authority() http.Handler {
	return api.ReadOnly(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-x509-ca-cert")
		w.Header().Set("Content-Disposition", `attachment; filename="sensegate-ca.pem"`)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(a.certs.Authority()) // the client may be gone
	})
}
