package motion

import "strings"

// EventKind is a kind of events. EventKinds lists all that the appliance knows; devices
// raise further ones of their own.
type EventKind struct {
	Name     string
	Category Category
	Meaning  string    // when it is raised, for documentation
	Devices  bool      // devices raise it (device-protocol.md 2.4)
	Callers  bool      // events/create accepts it (interfaces.md 6)
	Words    []Wording // what happened, in English; the first that applies; none: the name in words
	Notice   bool      // it concerns the household: the app's inbox shows it, of motion that while away
	Push     *PushText // the push to members unless the configuration has another; nil: never pushed
}

// Wording is a sentence about an event.
type Wording struct {
	If   string // a name that must have a value; empty: applies always
	Text string // {name} stands for a value
}

// PushText is the text of a push. {network} is the name of the home, {place} where motion
// was or the sensor is. Without a title nothing is pushed.
type PushText struct{ Title, Body string }

// always is the wording of events of one form.
func always(text string) []Wording { return []Wording{{Text: text}} }

var eventKinds = []EventKind{
	{
		Name: MotionDetectedEvent, Category: CategoryMotion, Notice: true, Devices: true, Callers: true, Meaning: "motion has begun",
		Words: []Wording{{"place", "Motion in {place}"}, {"", "Motion detected"}},
		Push:  &PushText{"Motion in {network}", "Motion was detected while nobody is home: {place}."},
	},
	{
		Name: MotionStoppedEvent, Category: CategoryMotion, Devices: true, Callers: true, Meaning: "it has ended",
		Words: []Wording{{"place", "Motion stopped in {place}"}, {"", "Motion stopped"}},
	},
	{
		Name: LinkConnectedEvent, Category: CategoryLink, Devices: true, Callers: true, Meaning: "a sensing link is there again",
		Words: always("{device} connected"),
	},
	{
		Name: LinkDisconnectedEvent, Category: CategoryLink, Devices: true, Callers: true, Meaning: "a sensing link is gone",
		Words: always("{device} disconnected"), Push: &PushText{},
	},
	{
		Name: LinkLowThroughputEvent, Category: CategoryLink, Devices: true, Callers: true, Meaning: "a link measures too seldom to sense well",
		Words: always("Weak sensing link to {device}"),
	},
	{
		Name: LinkCreatedEvent, Category: CategoryLink, Devices: true, Callers: true, Meaning: "a link is there for the first time",
		Words: always("New sensing link to {device}"),
	},
	{
		Name: LinkNoisyEvent, Category: CategorySystem, Meaning: "a link was alone in motion for ten minutes or half an hour, or is quiet again (`detail.noisy`)",
		Words: always("Noisy sensing link to {device}"),
	},
	{Name: DeviceConnectedEvent, Category: CategorySystem, Notice: true, Devices: true, Meaning: "a client that is followed has a link again"},
	{Name: DeviceDisconnectedEvent, Category: CategorySystem, Notice: true, Devices: true, Meaning: "a report no longer lists its last link"},
	{Name: DeviceTimedOutEvent, Category: CategorySystem, Notice: true, Devices: true, Meaning: "its last link fell silent without a disconnect"},
	{
		Name: DeviceAdoptedEvent, Category: CategorySystem, Notice: true, Meaning: "a device is new in the network; `data` names the installer who let it in, by hand or by the window that they opened",
		Words: []Wording{{"installer", "{installer} let in {device} as a new device"}, {"", "{device} was let in as a new device"}},
	},
	{
		Name: DeviceReturnedEvent, Category: CategorySystem, Notice: true, Meaning: "a device took up its own place again",
		Words: always("{device} came back"),
	},
	{
		Name: DeviceReplacedEvent, Category: CategorySystem, Notice: true, Meaning: "a device took the place of another",
		Words: always("{device} took the place of {replaced}"),
	},
	{
		Name: DeviceRefusedEvent, Category: CategorySystem, Notice: true, Meaning: "a device has to wait, or further ones that had to were counted (`detail.more`)",
		Words: []Wording{{"deviceId", "{device} was not let in: {reason}"}, {"", "{more} more requests of devices were refused"}},
	},
	{
		Name: DeviceMovedEvent, Category: CategorySystem, Notice: true, Meaning: "a device has left the network for another one",
		Words: always("{device} has left for another network"),
	},
	{
		Name: MemberArrivedEvent, Category: CategorySystem, Callers: true, Meaning: "a member is present",
		Words: always("{member} arrived"), Push: &PushText{},
	},
	{
		Name: MemberLeftEvent, Category: CategorySystem, Callers: true, Meaning: "a member is no longer present",
		Words: always("{member} left"), Push: &PushText{},
	},
	{
		Name: MemberJoinedEvent, Category: CategorySystem, Notice: true, Callers: true, Meaning: "somebody became a member of the household",
		Words: always("{member} joined the household"), Push: &PushText{"A new member", "Somebody joined {network}."},
	},
	{
		Name: MemberRemovedEvent, Category: CategorySystem, Notice: true, Callers: true, Meaning: "a member was removed",
		Words: always("{member} was removed from the household"), Push: &PushText{},
	},
	{
		Name: OwnerChangedEvent, Category: CategorySystem, Notice: true, Meaning: "the home has another owner, whom `data` names",
		Words: always("{member} is the owner of the household now"),
	},
	{
		Name: MemberStaysEvent, Category: CategorySystem, Notice: true, Meaning: "somebody from outside took the home over, and this member of the household before stays: they go on seeing motion, history and who is at home",
		Words: always("{member} was a member before and still sees motion and history"),
	},
	{
		Name: InstallerJoinedEvent, Category: CategorySystem, Notice: true, Meaning: "somebody may look after the devices until `detail.until`, and is no member",
		Words: always("{member} may look after the devices now"), Push: &PushText{"An installer", "Somebody may look after the devices of {network} now."},
	},
	{
		Name: InstallerLeftEvent, Category: CategorySystem, Notice: true, Meaning: "that has ended (`detail.reason`: ended, removed, left or handed_over)",
		Words: always("{member} no longer looks after the devices"),
	},
	{
		Name: SceneChangedToAwayEvent, Category: CategorySystem, Notice: true, Meaning: "the scene is away (code 1)",
		Words: always("Scene changed to away"), Push: &PushText{"{network} is away", "The scene has changed to away."},
	},
	{
		Name: SceneChangedToHomeEvent, Category: CategorySystem, Notice: true, Meaning: "the scene is home (code 4)",
		Words: always("Scene changed to home"), Push: &PushText{"{network} is home", "The scene has changed to home."},
	},
	{
		Name: ExcessiveMotionEvent, Category: CategorySystem, Meaning: "motion lasts longer than the scene configuration wants",
		Push: &PushText{},
	},
	{
		Name: GuardianMotionEvent, Category: CategorySystem, Notice: true, Meaning: "motion in a guardian window of the scene configuration",
		Push: &PushText{"Guardian: motion in {network}", "Motion was detected at a time that is watched."},
	},
	{
		Name: CustomAlertEvent, Category: CategorySystem, Notice: true, Meaning: "a universal alert has come to a verdict (`_consumer` is its name)",
		Words: []Wording{{"title", "{title}"}, {"", "Alert"}}, Push: &PushText{},
	},
	{
		Name: DatabaseRecoveredEvent, Category: CategorySystem, Notice: true, Meaning: "the database was damaged: `detail` says which backup took its place, or which records were taken from it, and what is lost",
		Words: []Wording{
			{"restored", "Damaged records of the database replaced from a backup"},
			{"backup", "Damaged database replaced by a backup"}, {"lost", "Damaged records of the database lost"},
			{"", "Damaged database replaced by a backup"},
		},
	},
	{
		Name: ClockSetEvent, Category: CategorySystem, Notice: true, Meaning: "the appliance's clock was set: times before and after it cannot be compared",
		Words: always("Clock of the appliance set"),
	},
	{
		Name: HistoryCutEvent, Category: CategorySystem, Notice: true, Meaning: "the network has more events than `store.events_of_network` lets it have: its oldest `detail.events`, until `detail.until`, went",
		Words: always("Too many events: the oldest were removed"),
	},
	{
		Name: WalkTestStartedEvent, Category: CategorySystem, Notice: true,
		Meaning: "an installer, whom `data` names, tests which rooms sense: for ten minutes at most they see when links move",
		Words:   always("{member} has started a walk test"),
	},
	{
		Name: InstallerRemovedDeviceEvent, Category: CategorySystem, Notice: true,
		Meaning: "an installer, whom `data` names, removed a node or leaf: its name, room and learned quiet are gone",
		Words:   always("{member} removed {device}"),
	},
	{
		Name: InstallerOpenedAdoptionEvent, Category: CategorySystem, Notice: true,
		Meaning: "an installer, whom `data` names, lets every new device in that asks, until `detail.until`",
		Words:   always("{member} lets new devices in"),
	},
	{
		Name: InstallerTunedEvent, Category: CategorySystem, Notice: true,
		Meaning: "an installer, whom `data` names, changed how sensitive the home is: `detail` has what is in force now",
		Words:   always("{member} has changed how sensitive the home is"),
	},
	{
		Name: RecordingStartedEvent, Category: CategorySystem, Notice: true,
		Meaning: "whoever looks after the appliance records raw CSI of the home, for `detail.minutes` at most: it tells who moves, and how; `data` names the member who does it in the app, nobody when it is done on the appliance itself",
		Words:   always("{member} records the raw signal of the links"),
	},
	{Name: DeviceAddedEvent, Category: CategorySystem, Meaning: "a third-party sensor was added"},
	{Name: DeviceRemoved, Category: CategorySystem, Meaning: "a third-party sensor was removed"},
	{Name: IntegrationDeletedEvent, Category: CategorySystem, Notice: true, Meaning: "the account of third-party sensors was removed"},
	{Name: IntegrationsConfigChangedEvent, Category: CategorySystem, Meaning: "a third-party sensor was configured"},
	{
		Name: SensorChangedValue, Category: CategoryMotion, Meaning: "a third-party sensor noticed something: pushed, but no event of the history",
		Push: &PushText{"Sensor in {network}", "A sensor has noticed something while nobody is home: {place}."},
	},
	{Name: MotionEventPair, Category: CategoryMotion, Meaning: "a detection with its end, of events/pairs; no event of the history"},
}

// EventKinds returns every kind that the appliance knows.
func EventKinds() []EventKind { return eventKinds }

// EventKindOf returns the kind with that name, and whether it is known.
func EventKindOf(name string) (EventKind, bool) {
	for _, k := range eventKinds {
		if k.Name == name {
			return k, true
		}
	}
	return EventKind{Name: name}, false
}

// IsEventKind reports whether text can be the name of a kind, known or not: 1 to 64
// letters, digits and _.
func IsEventKind(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// Takes reports whether an event of the kind may have that category. Kinds of Motion and Link
// have their own, because arming depends on Motion; other kinds may have any other category.
func (k EventKind) Takes(c Category) bool {
	return c == k.Category || k.Category != CategoryMotion && c != CategoryMotion && c != CategoryLink
}

// Sentence returns in words what happened; value returns the value of a name, empty when it is
// not known.
func (k EventKind) Sentence(value func(name string) string) string {
	for _, w := range k.Words {
		if w.If != "" && value(w.If) == "" {
			continue
		}
		var text strings.Builder
		rest := w.Text
		for {
			before, after, found := strings.Cut(rest, "{")
			text.WriteString(before)
			name, tail, closed := strings.Cut(after, "}")
			if !found || !closed {
				return text.String()
			}
			text.WriteString(value(name))
			rest = tail
		}
	}
	return spaced(k.Name)
}

// spaced returns the name of a kind in words: DeviceAddedEvent is "Device added".
func spaced(kind string) string {
	var text strings.Builder
	for i, r := range strings.TrimSuffix(kind, "Event") {
		if i > 0 && r >= 'A' && r <= 'Z' {
			text.WriteByte(' ')
			r += 'a' - 'A'
		}
		text.WriteRune(r)
	}
	return text.String()
}
