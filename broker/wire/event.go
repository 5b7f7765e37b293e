package wire

import (
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

const maxWindow = 64 // longest density window and longest list of places of an event

// decodeEvent reads an event record without _id and tag, which the appliance gives
// (device-protocol.md 2.4). Its ts must be there and may be 0 (a device without a clock).
func decodeEvent(top map[string]any) (motion.Report, *fault.Error) {
	for _, required := range []string{"category", "event", "ts"} {
		if top[required] == nil {
			return nil, under(required, invalid("missing"))
		}
	}
	var report motion.EventReport
	if err := into(&report.Event, top); err != nil {
		return nil, err
	}
	report.Event.ID, report.Event.Tag = "", ""
	if err := checkKind(report.Event.Category, report.Event.Event); err != nil {
		return nil, err
	}
	if err := normalEvent(&report.Event); err != nil {
		return nil, err
	}
	if err := into(&report.UUID, top["uuid"]); err != nil {
		return nil, under("uuid", err)
	}
	report.UUID = strings.ToLower(report.UUID)
	if report.UUID != "" && !isUUID(report.UUID) {
		return nil, under("uuid", invalid("%s: want 8-4-4-4-12 hexadecimal digits", short(report.UUID)))
	}
	return report, nil
}

// checkKind checks that a device may raise this kind in this category. Kinds that
// interfaces.md 6 does not list are accepted in any category; those that only the appliance
// raises are refused.
func checkKind(category motion.Category, kind string) *fault.Error {
	switch category {
	case motion.CategoryLink, motion.CategoryNetwork, motion.CategoryMotion, motion.CategorySystem,
		motion.CategoryUser, motion.CategoryDevice, motion.CategoryInternal:
	default:
		return under("category", invalid("%s: want Link, Network, Motion, System, User, Device or Internal", short(string(category))))
	}
	if !motion.IsEventKind(kind) {
		return under("event", invalid("%s: want 1 to 64 letters, digits and _", short(kind)))
	}
	switch k, known := motion.EventKindOf(kind); {
	case !known:
	case !k.Devices:
		return under("event", invalid("%s is not raised by devices", kind))
	case !k.Takes(category):
		return under("category", invalid("%s: want %s for %s", category, k.Category, kind))
	}
	return nil
}

// normalEvent brings the link, the places and the intensities of an event into
// the form of the record.
func normalEvent(event *motion.Event) *fault.Error {
	if err := normalLink(event); err != nil {
		return err
	}
	if len(event.Loc) > maxWindow {
		return under("loc", invalid("%d entries: at most %d", len(event.Loc), maxWindow))
	}
	for i, loc := range event.Loc {
		if mac, err := motion.ParseMAC(loc.MAC); err == nil {
			event.Loc[i].MAC = mac.String()
		}
		confidence, err := within(loc.Confidence, 0, 1)
		if err != nil {
			return under("loc", item(i, under("confidence", err)))
		}
		event.Loc[i].Confidence = confidence
	}
	if len(event.IntensityWindow) > maxWindow {
		return under("intensity_window", invalid("%d values: at most %d", len(event.IntensityWindow), maxWindow))
	}
	for i, value := range event.IntensityWindow {
		intensity, err := within(value, 0, 1)
		if err != nil {
			return under("intensity_window", item(i, err))
		}
		event.IntensityWindow[i] = intensity
	}
	return nil
}

// normalLink makes the link id and the names of its two ends agree; either may be
// missing. The ends of an old link id stay as they were sent.
func normalLink(event *motion.Event) *fault.Error {
	if event.LinkID == "" {
		if event.LinkDstName == "" || event.LinkSrcName == "" {
			return nil
		}
		event.LinkID = motion.LinkName(event.LinkDstName, event.LinkSrcName)
	}
	id, err := linkID(event.LinkID)
	if err != nil {
		return under("link_id", err)
	}
	event.LinkID = id
	if dst, src, found := strings.Cut(id, "."); found {
		event.LinkDstName, event.LinkSrcName = dst, src
	}
	return nil
}

// isUUID reports whether s has the text form of a UUID (RFC 9562 section 4), in
// lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hexDigit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash != (c == '-') || !dash && !hexDigit {
			return false
		}
	}
	return true
}
