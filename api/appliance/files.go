package appliance

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"sensegate/api/box/preflight"
	"sensegate/store/regular"
)

// lookAtFiles looks whether the files that the configuration names can be read, by the user of the service, too,
// where root looks.
func (c *Config) lookAtFiles() (found []preflight.Finding) {
	look := func(key, path string, without preflight.Grade, then string) {
		if path == "" {
			return
		}
		file, err := regular.Open(path)
		if err == nil {
			err = errors.Join(file.Close(), preflight.OwnerCannotRead(c.StateDir, path))
		}
		if err != nil {
			found = append(found, preflight.Finding{What: key, Grade: without, Says: err.Error(), Fix: then})
		}
	}
	const readable = "It has to be there, and readable for the service: chgrp, and chmod 0640"
	look("configuration", c.Sources.Path(), preflight.Warning, readable)
	look("tls.certificate", c.TLS.Certificate, preflight.Warning, readable+"; until then the appliance shows its own")
	look("tls.key", c.TLS.Key, preflight.Warning, readable+"; until then the appliance shows its own")
	look("mail.smtp.password_file", c.Mail.SMTP.PasswordFile, preflight.Warning, readable)
	look("push.fcm.credentials_file", c.Push.FCM.CredentialsFile, preflight.Warning, readable)
	if _, err := os.Stat(c.Provision); err == nil { // it may be gone after the first start
		look("provision_file", c.Provision, preflight.Warning, readable)
	}
	for i, p := range c.Auth.Providers {
		look(fmt.Sprintf("auth.providers.%d.jwks_file", i), p.JWKSFile, preflight.Wrong, "A start needs it")
	}
	for i, u := range c.Uplinks {
		files := u.Files()
		for _, key := range slices.Sorted(maps.Keys(files)) {
			look(fmt.Sprintf("uplinks.%d.%s", i, key), files[key], preflight.Warning, readable)
		}
	}
	return found
}
