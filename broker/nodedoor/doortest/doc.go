// Package doortest holds tests of nodes of other makers against the real binary, in network namespaces of its
// own: who waits, who comes in, and what happens when a node or its address changes.
//
// They need Linux, root and ip (iproute2). Without these they skip, and fail when CI=true.
//
// It must not know how the product decides.
package doortest
