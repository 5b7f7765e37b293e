package notify

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// Kind is the purpose of a mail.
type Kind string

// The kinds of mails.
const (
	Confirm      Kind = "confirm"       // to prove that the address is the person's
	Reset        Kind = "reset"         // to set a new password
	Invite       Kind = "invite"        // to join a network
	KnownAddress Kind = "known_address" // somebody registered with an address that has an account
	OwnerChanged Kind = "owner_changed" // a network has a new owner

	// Notices of a change, to the address that the account had before it.
	PasswordChanged Kind = "password_changed"
	AddressChanged  Kind = "address_changed"
	AccountDeleted  Kind = "account_deleted"
	IdentityLinked  Kind = "identity_linked" // an identity provider can log the account in
)

// notice reports whether a mail only informs about a change.
func (k Kind) notice() bool {
	return k == PasswordChanged || k == AddressChanged || k == AccountDeleted || k == IdentityLinked
}

// Mail is the content of a mail; its text and link are composed from it.
type Mail struct {
	Kind    Kind
	To      string       // address
	User    home.UserID  // the account concerned; 0: none yet
	Token   string       // in the link
	Expires motion.Stamp // end of the token or the invitation; 0: never
	Home    home.ID      // Invite: the network to join
	Network string       // Invite, OwnerChanged: its name; "": none
	Inviter string       // Invite: the owner's name; "": unknown
	Owner   bool         // OwnerChanged: the receiver is the new owner
	Members []string     // OwnerChanged: names of those who stay, for a new owner from outside
}

// compose writes the text of a mail.
func (o *Outbox) compose(m Mail) (store.Mail, error) {
	stored := store.Mail{
		Kind: string(m.Kind), UserID: m.User, HomeID: m.Home, Address: m.To, ExpiresAt: m.Expires,
	}
	switch m.Kind {
	case Confirm:
		stored.Subject, stored.Text = "Confirm your address", confirmText
		stored.Link = o.link("/confirm#", url.Values{"token": {m.Token}})
	case Reset:
		stored.Subject, stored.Text = "Set a new password", resetText
		stored.Link = o.link("/reset#", url.Values{"token": {m.Token}})
	case Invite:
		stored.Subject, stored.Text = "You are invited to a network", inviteText(m)
		stored.Link = o.link("/invite#", url.Values{"network_id": {fmt.Sprint(m.Home)}, "token": {m.Token}})
	case KnownAddress:
		stored.Subject, stored.Text = "You have an account already", knownText
	case OwnerChanged:
		stored.Subject, stored.Text = "Your network has another owner", ownerText(m)
		if m.Owner {
			stored.Subject = "You are the owner of a network now"
		}
	case PasswordChanged:
		stored.Subject, stored.Text = "Your password was changed", passwordText
	case AddressChanged:
		stored.Subject, stored.Text = "Your account has another address", addressText
	case IdentityLinked:
		stored.Subject, stored.Text = "Another service logs you in now", linkedText
	case AccountDeleted:
		stored.Subject, stored.Text = "Your account was deleted", deletedText
	default:
		return stored, fmt.Errorf("write mail: unknown kind %q", m.Kind)
	}
	return stored, nil
}

// link returns an address of the appliance. Its base comes from the configuration, never from a
// request. Browsers do not send the part after #: only the page reads it.
func (o *Outbox) link(path string, query url.Values) string {
	return strings.TrimRight(o.base(), "/") + path + query.Encode()
}

// The texts of the mails; the link follows them.
const (
	confirmText = "Somebody, hopefully you, has made an account with this address, or is moving theirs to it.\n\n" +
		"Open the link within two days and enter the password of the account to confirm that the address is yours. If it was not you, do nothing."
	resetText = "Somebody, hopefully you, wants to set a new password for the account with this address.\n\n" +
		"Open the link within one hour and choose one. Other services do not log you in any more then, until you link them again. If it was not you, do nothing: your password stays as it is."
	knownText = "Somebody, hopefully you, tried to make an account with this address. There is one already, and nothing was changed.\n\n" +
		"If you forgot your password, ask for a new one in the app."
	passwordText = "The account with this address has a new password, and all its sessions have ended.\n\n" +
		"If it was not you, ask for a new password in the app at once, and tell the owner of the network."
	addressText = "The account that had this address has another one now.\n\n" +
		"If it was not you, tell the owner of the network at once, or whoever looks after the appliance."
	linkedText = "The account with this address can be opened by logging in with another service now.\n\n" +
		"If it was not you, set a new password, and remove that service from your account in the app."
	deletedText = "The account with this address was deleted, with everything that belonged to it alone.\n\n" +
		"If it was not you, tell the owner of the network, or whoever looks after the appliance."
)

// inviteText names the inviter and the network. Users typed both: they are cut and quoted, so
// that they cannot pass for words of the appliance.
func inviteText(m Mail) string {
	inviter := "The owner of a network"
	if m.Inviter != "" {
		inviter = quoted(m.Inviter)
	}
	return inviter + " invites you to the " + networkText(m) + ".\n\n" +
		"Open the link within seven days, and join with an account that has this address."
}

// stayText says to a new owner from outside who belongs to the home beside them. They have typed their
// names themselves.
func stayText(m Mail) string {
	if len(m.Members) == 0 {
		return ""
	}
	names := make([]string, len(m.Members))
	for i, name := range m.Members {
		names[i] = quoted(name)
	}
	return "\n\nThese members of the household before you stay, and see motion, history and who is at home: " +
		strings.Join(names, ", ") + ". Remove in the app whoever you do not know."
}

// ownerText names nobody but members to a new owner from outside; the list of members does, for members.
func ownerText(m Mail) string {
	if m.Owner {
		return "You are the owner of the " + networkText(m) + " now: its owner has left, or has handed it over to you.\n\n" +
			"You invite and remove its members, change its settings, and can hand it over to another member." + stayText(m)
	}
	return "The " + networkText(m) + " has another owner now.\n\nThe list of its members in the app says who it is."
}

func networkText(m Mail) string {
	if m.Network == "" {
		return "motion-sensing network"
	}
	return "network " + quoted(m.Network)
}

// quotedLength is the greatest length of a typed name in a mail, in characters.
const quotedLength = 60

// quoted returns a typed name on one line, in quotes.
func quoted(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '"' {
			return ' '
		}
		return r
	}, name))
	return `"` + strings.TrimSpace(string(runes[:min(len(runes), quotedLength)])) + `"`
}
