package household

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sort"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

const (
	joinCodeLife = 15 * time.Minute
	joinCodes    = 3 // open at a time for a home; the oldest gives way
	joinLetters  = 8 // 40 bits, too many to guess within joinCodeLife at 5 tries a minute
)

// openCodes are the join codes that can be used. They are in memory alone, so they end with a
// restart. Like an invitation, a code ends with the ownership of whoever made it.
type openCodes struct {
	mu   sync.Mutex
	list []joinCode // the oldest first
}

// joinCode lets one person join a home.
type joinCode struct {
	Admission
	digest [sha256.Size]byte
	home   home.ID
	by     home.UserID
	since  motion.Stamp // OwnerSince of their membership: a later ownership of theirs is another one
	made   motion.Time
	busy   bool // somebody is joining by it
}

// JoinRole is what somebody who has a join code becomes.
type JoinRole string

// The roles of join codes. JoinOwner is for the next owner of the home.
const (
	JoinMember    JoinRole = "member"
	JoinOwner     JoinRole = "owner"
	JoinInstaller JoinRole = "installer"
)

// Admission is what a join code is for.
type Admission struct {
	Role JoinRole
	// Days is how long an installer stays, 1 to home.MaxInstallerDays. Of a code for an owner it
	// is how long the present owner stays as installer afterwards; 0: not at all.
	Days int
}

// Joined is what a join code has made of a user.
type Joined struct {
	Home home.ID
	User home.UserID
	Role JoinRole
}

// ended reports whether a code is too old. One from the future was made by a clock that was set
// back since.
func (c joinCode) ended(now motion.Time) bool {
	age := now.Since(c.made)
	return age < 0 || age >= joinCodeLife.Seconds()
}

func joinDigest(code string) [sha256.Size]byte { return sha256.Sum256([]byte(home.SetupCode(code))) }

// NewJoinCode returns a code such as 7K2M-Q9XA, which lets whoever has it join a home of an owner
// as the admission says, once, before it ends. Only a digest of it is kept. A home has at most
// three codes, of which one hands it over; another one ends the oldest. The caller has checked the admission.
func (h *Household) NewJoinCode(ctx context.Context, id home.ID, owner home.UserID, a Admission) (code string, ends motion.Time, err error) {
	letters := make([]byte, joinLetters)
	rand.Read(letters)
	for i, b := range letters {
		letters[i] = home.SetupCodeLetters[int(b)%len(home.SetupCodeLetters)]
	}
	code = string(letters[:joinLetters/2]) + "-" + string(letters[joinLetters/2:])
	err = h.db.View(ctx, func(tx *store.Tx) error {
		own, err := ownershipOf(tx, id, owner)
		if err != nil {
			return err
		}
		ends = tx.Now().Add(joinCodeLife.Seconds())
		h.codes.drop(func(c joinCode) bool {
			return c.ended(tx.Now()) || a.Role == JoinOwner && c.home == id && c.Role == JoinOwner
		})
		h.codes.add(joinCode{Admission: a, digest: joinDigest(code), home: id, by: owner, since: own.OwnerSince, made: tx.Now()})
		return nil
	})
	return code, ends, err
}

// EndJoinCodes ends every join code of a home.
func (h *Household) EndJoinCodes(id home.ID) {
	h.codes.drop(func(c joinCode) bool { return c.home == id })
}

// JoinByCode makes the user whom who returns, within the transaction, a member, the owner or an
// installer of the home that the code opens. The code works once. Nothing is stored and the code
// goes on when JoinByCode fails, except that a code ends when ctx ends before the outcome is known.
//
// Invalid, code join_code: the code is wrong, was used or has ended; all the same. Conflict, code
// member: the user belongs to the home already, of a code for an owner: owns it.
func (h *Household) JoinByCode(ctx context.Context, code string, who func(*store.Tx) (home.UserID, error)) (Joined, error) {
	digest := joinDigest(code)
	used, ok := h.codes.find(digest, true)
	if !ok {
		return Joined{}, wrongJoinCode()
	}
	joined := Joined{Home: used.home, Role: used.Role}
	scene := false
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		owner, err := used.check(tx)
		if err != nil {
			return nil, err
		}
		if joined.User, err = who(tx); err != nil {
			return nil, err
		}
		switch used.Role {
		case JoinInstaller:
			events, err = hire(tx, used, joined.User)
		case JoinOwner:
			scene, events, err = h.takeOver(tx, used, owner, joined.User)
		default:
			events, err = welcome(tx, used.home, joined.User)
		}
		return events, err
	})
	if err != nil && ctx.Err() == nil {
		h.codes.release(digest)
		return Joined{}, err
	}
	h.codes.drop(func(c joinCode) bool { return c.digest == digest })
	if err != nil {
		return Joined{}, err
	}
	h.afterJoining(context.WithoutCancel(ctx), joined, scene)
	return joined, nil
}

// afterJoining does what follows the commit of JoinByCode. scene: the scene of the home changed.
func (h *Household) afterJoining(ctx context.Context, joined Joined, scene bool) {
	if joined.Role == JoinOwner {
		h.EndJoinCodes(joined.Home)
	}
	h.ended() // the owner before, or an installer, may have lost the home
	h.log.Info("joined by a code", "home", joined.Home, "user", joined.User, "role", joined.Role)
	if !scene {
		return
	}
	if err := h.armAll(ctx, []home.ID{joined.Home}); err != nil {
		h.log.Warn("arming after a hand-over failed", "home", joined.Home, "err", err)
	}
}

// welcome makes a user a member of a home, and returns the events.
func welcome(tx *store.Tx, id home.ID, user home.UserID) ([]motion.Event, error) {
	known, member, err := tx.MembershipOf(id, user)
	if err == nil && member && known.Unasked {
		_, err := accept(tx, known)
		return nil, err
	}
	if err == nil && member {
		err = belongsAlready()
	}
	if err != nil {
		return nil, err
	}
	house, err := tx.Home(id)
	if err != nil {
		return nil, err
	}
	_, events, err := enter(tx, house, home.Membership{Role: home.MemberRole, User: user})
	return events, err
}

// hire makes a user who does not belong to the home an installer, and returns the events.
func hire(tx *store.Tx, c joinCode, user home.UserID) ([]motion.Event, error) {
	_, member, err := tx.MembershipOf(c.home, user)
	if err == nil && member {
		err = belongsAlready()
	}
	if err != nil {
		return nil, err
	}
	return letIn(tx, c.home, user, c.by, c.Days)
}

func belongsAlready() error {
	return &fault.Error{Kind: fault.Conflict, Code: "member", Message: "code: you belong to this home already"}
}

// CheckJoinCode returns nil when a join code can be used now, and the error of JoinByCode
// otherwise.
func (h *Household) CheckJoinCode(ctx context.Context, code string) error {
	open, ok := h.codes.find(joinDigest(code), false)
	if !ok {
		return wrongJoinCode()
	}
	return h.db.View(ctx, func(tx *store.Tx) error {
		_, err := open.check(tx)
		return err
	})
}

// check returns the membership of the owner who made the code while it can be used, and the
// error of JoinByCode otherwise.
func (c joinCode) check(tx *store.Tx) (owner home.Membership, err error) {
	owner, err = ownershipOf(tx, c.home, c.by)
	if fault.KindOf(err) == fault.Forbidden || err == nil && (owner.OwnerSince != c.since || c.ended(tx.Now())) {
		err = wrongJoinCode()
	}
	return owner, err
}

func wrongJoinCode() error {
	return &fault.Error{Kind: fault.Invalid, Code: "join_code", Message: "code: is not right, was used, or is older than 15 minutes; ask for another"}
}

// add adds a code; a home that has as many as it may loses the oldest.
func (o *openCodes) add(c joinCode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, c)
	sort.Slice(o.list, func(i, j int) bool { return o.list[i].made < o.list[j].made })
	own := 0
	for i, other := range slices.Backward(o.list) {
		if other.home == c.home {
			own++
		}
		if other.home == c.home && own > joinCodes {
			o.list = slices.Delete(o.list, i, i+1)
		}
	}
}

func (o *openCodes) drop(which func(joinCode) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, which)
}

// find returns the code with a digest that nobody is using, and marks it as in use if use.
// Digests are compared and not codes, so that the time tells nothing.
func (o *openCodes) find(digest [sha256.Size]byte, use bool) (joinCode, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.list, func(c joinCode) bool { return c.digest == digest && !c.busy })
	if i < 0 {
		return joinCode{}, false
	}
	o.list[i].busy = use
	return o.list[i], true
}

// release lets a code be used again, unless it was ended meanwhile.
func (o *openCodes) release(digest [sha256.Size]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.list {
		if o.list[i].digest == digest {
			o.list[i].busy = false
		}
	}
}
