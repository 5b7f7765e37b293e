// Package movetest is tests alone: it moves a home from one running product to another while its
// devices are on, and counts what was lost of what was acknowledged.
//
// It builds the real binary, runs two of it, has a simulated home and a device of its own at the
// doors of the first, and gives the commands of an administrator. The device sends one event
// after the other, each until it is acknowledged, and notes who has acknowledged which. At the end
// the second product must have every event once, in its history without a gap the motion of the
// home, and its people.
//
// The package knows the interfaces, the command line and the device protocol from outside. It must
// not know how the product keeps its promises.
package movetest
