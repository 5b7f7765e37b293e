// Package home holds the people's side of the product: users, homes, who belongs
// to which home in which role, and the rules of these
// (interfaces.md 2.3, 2.4 and 5; payloads.md 5). A home is the record of a motion-sensing
// network as its household sees it; the network itself is [motion.Network].
//
// It decides from data alone. It must not do I/O, read the clock, or know HTTP.
package home
