// Package pki keeps the certificates that the appliance shows over TLS: an
// authority of its own, made at the first start, a certificate for the names and
// addresses of the box, renewed by itself, or one that the owner supplies.
//
// Files in its directory, readable by their owner only, each the certificate and
// then its private key as PEM (RFC 7468): authority.pem and server.pem.
//
// It knows nothing of what is spoken over TLS: no HTTP, no MQTT, no configuration
// but the two paths of the owner's certificate.
package pki
