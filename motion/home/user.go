package home

import (
	"net/mail"
	"strings"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// UserID identifies a user. Ids are positive.
type UserID int64

// User is a person with an account (interfaces.md 2.3).
type User struct {
	ID          UserID        `json:"id"`
	Username    string        `json:"username"`
	Email       string        `json:"email" doc:"As the person wrote it"`
	FirstName   string        `json:"first_name"`
	LastName    string        `json:"last_name"`
	Sub         string        `json:"sub" doc:"Subject of the tokens, a uuid"`
	CreatedAt   motion.Stamp  `json:"created_at"`
	UpdatedAt   motion.Stamp  `json:"updated_at"`
	ConfirmedAt *motion.Stamp `json:"confirmed_at" nullable:"true" doc:"null: the address is not confirmed yet"`
	ValidFrom   int64         `json:"valid_from" doc:"UTC timestamp, seconds: tokens issued before it are invalid"`
}

// Confirmed reports whether the person has confirmed their address.
func (u User) Confirmed() bool { return u.ConfirmedAt != nil }

// Limits of typed values.
const (
	MinPassword = 6 // characters (payloads.md 5.1)
	MaxPassword = 512
	maxEmail    = 254 // RFC 5321 4.5.3.1.3
	MaxName     = 100 // characters of a first or last name
)

// CheckEmail returns an Invalid fault unless address is a bare e-mail address
// (RFC 5322 addr-spec) of at most 254 bytes.
func CheckEmail(address string) error {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || len(address) > maxEmail || strings.ContainsAny(address, "\r\n") {
		return fault.New(fault.Invalid, "email: want an address such as jdoe@example.com")
	}
	return nil
}

// EmailKey returns the form of an address for comparison, which ignores case.
func EmailKey(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// LocalPart returns the part of an address before the @.
func LocalPart(address string) string {
	return address[:max(0, strings.LastIndexByte(address, '@'))]
}

// CheckPassword returns an Invalid fault unless password has 6 to 512 characters, 6 of them
// without leading and trailing blanks.
func CheckPassword(password string) error {
	if utf8.RuneCountInString(strings.TrimSpace(password)) < MinPassword || utf8.RuneCountInString(password) > MaxPassword {
		return fault.New(fault.Invalid, "password: want %d to %d characters, without blanks before and after it", MinPassword, MaxPassword)
	}
	return nil
}

// MobileID identifies a mobile device. Ids are positive and fit 32 bits.
type MobileID uint32

// MobileDevice is one installation of an app that can receive pushes (payloads.md 5.2).
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
