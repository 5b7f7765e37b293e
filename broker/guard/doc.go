// Package guard stands between the network and the MQTT library (mochi-mqtt
// v2.7.9) and hides that library's known defects.
//
// It has two halves. A [Listener] wraps any bound net.Listener: it counts and
// limits connections, reads and checks every packet before the library sees a
// byte of it, never lets a write block, contains panics, and closes everything
// it opened. A [Hook] holds what only a hook of the library can hold; a policy
// embeds it and adds who may do what.
//
// The package knows the MQTT 3.1.1 and 5 wire formats (OASIS standards; section
// numbers in comments are those of MQTT 5) and the library. It must not know
// devices, users, topics of the product or its store, so that the same guard
// runs under an open policy in conformance tests.
//
// Concurrency: a Guard and its Listeners may be used from any goroutine. The
// read half of a Conn belongs to the library's goroutine for that connection;
// its write half and Close may be called from anywhere and never block.
package guard
