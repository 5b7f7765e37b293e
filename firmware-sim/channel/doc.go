// Package channel is a physical model of a Wi-Fi link through a home: rooms with
// walls and doors, what stands and what moves in them, and the receiver that
// measures the result. It yields channel state (CSI) for any layout of
// subcarriers. It knows geometry and radio; it must not know the device
// protocol, networks, people's days or detection.
//
// The channel of a link is a sum of paths. Each subcarrier sees a path with the
// phase of its length and, by Friis, an amplitude of λ/(4πd), weakened by every
// wall crossed; walls, floor and ceiling reflect by the method of images (Allen
// and Berkley, 1979); things and the parts of a moving body scatter by the
// bistatic radar equation, λ√σ/((4π)^1.5·d1·d2), directly and over the
// reflections; what is reflected more than once is a diffuse tail of virtual
// sources whose delay spread follows Saleh and Valenzuela (1987). A body that
// stands in the direct path shadows it.
//
// Everything is a function of the seed and of the time asked for. A Link reuses
// its buffers and belongs to one goroutine; Plan, Track and Body are read only
// after they were made and may be shared.
package channel
