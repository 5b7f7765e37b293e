// Package linktest holds tests of being found: the real binary in network namespaces of its
// own, several of them on one link, and clients and rivals that share no code with it.
//
// They need Linux, root and ip (iproute2). Without these they skip, and fail when CI=true.
//
// It must not know how the product answers.
package linktest
