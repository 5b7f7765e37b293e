package home

import "sensegate/motion"

// MobileID identifies a mobile device. Ids are positive and fit 32 bits.
type MobileID uint32

// Limits of what an app says of itself.
const (
	MaxMobileToken = 4096 // bytes of a push token
	MaxMobileText  = 100  // characters of a platform, name or version
)

// MobileDevice is one installation of an app that can be pushed to (payloads.md 5.2).
type MobileDevice struct {
	ID         MobileID     `json:"id"`
	UserID     UserID       `json:"user_id"`
	Token      string       `json:"token" doc:"Instance token of the push service"`
	Platform   string       `json:"platform" doc:"Such as ios or android"`
	Name       string       `json:"name"`
	AppVersion string       `json:"app_version"`
	CreatedAt  motion.Stamp `json:"created_at"`
	UpdatedAt  motion.Stamp `json:"updated_at"`
}
