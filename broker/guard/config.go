package guard

import (
	"errors"
	"fmt"
	"time"
)

// Config holds the limits of a Guard. Start from Defaults.
type Config struct {
	ConnectTimeout    time.Duration `yaml:"-"`                                     // from accept to a complete CONNECT
	KeepAlive         time.Duration `yaml:"-"`                                     // longest keep-alive, also for clients that ask for none; at most 43,690 s
	WriteTimeout      time.Duration `yaml:"-"`                                     // per 16 KiB written to a client
	MaxConnections    int           `yaml:"max_connections" env:"MAX_CONNECTIONS"` // open at once, over all listeners
	MaxPerAddress     int           `yaml:"max_per_address" env:"MAX_PER_ADDRESS"` // open at once from one address; eight times from an IPv6 /64
	LimitLoopback     bool          `yaml:"-"`                                     // apply MaxPerAddress to 127.0.0.0/8 and ::1 too
	MessagesPerSecond int           `yaml:"-"`                                     // per connection, beyond it the connection is read more slowly; 0 = no limit

	MaxConnect        int    `yaml:"-"` // bytes of a CONNECT after its fixed header
	MaxPacket         int    `yaml:"-"` // bytes of any other packet after its fixed header
	MaxPending        int    `yaml:"-"` // bytes waiting to be written to one client
	MaxTopic          int    `yaml:"-"` // bytes of a topic name or filter
	MaxLevels         int    `yaml:"-"` // levels of a topic name or filter
	MaxFilters        int    `yaml:"-"` // filters of one SUBSCRIBE or UNSUBSCRIBE
	MaxQoS            byte   `yaml:"-"` // highest QoS of a PUBLISH or will
	TopicAliasMaximum uint16 `yaml:"-"` // highest topic alias a client may use; 0 = none
}

// Defaults returns the product's limits.
func Defaults() Config {
	return Config{
		ConnectTimeout:    10 * time.Second,
		KeepAlive:         1800 * time.Second,
		WriteTimeout:      5 * time.Second,
		MaxConnections:    4096,
		MaxPerAddress:     64,
		MessagesPerSecond: 500,
		MaxConnect:        4 << 10,
		MaxPacket:         256 << 10,
		MaxPending:        1 << 20,
		MaxTopic:          512,
		MaxLevels:         16,
		MaxFilters:        1024,
		MaxQoS:            1,
	}
}

// Validate returns every mistake at once, nil when there is none.
func (c Config) Validate() error {
	var errs []error
	positive := func(name string, ok bool) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: must be more than 0", name))
		}
	}
	positive("connect_timeout", c.ConnectTimeout > 0)
	positive("write_timeout", c.WriteTimeout > 0)
	positive("max_connections", c.MaxConnections > 0)
	positive("max_per_address", c.MaxPerAddress > 0)
	positive("max_connect", c.MaxConnect > 0)
	positive("max_packet", c.MaxPacket > 0)
	positive("max_pending", c.MaxPending > 0)
	positive("max_topic", c.MaxTopic > 0)
	positive("max_levels", c.MaxLevels > 0)
	positive("max_filters", c.MaxFilters > 0)
	if c.KeepAlive < time.Second || c.KeepAlive > maxKeepAlive {
		errs = append(errs, fmt.Errorf("keep_alive: must be between 1s and %s", maxKeepAlive))
	}
	if c.MessagesPerSecond < 0 {
		errs = append(errs, errors.New("messages_per_second: must not be negative; 0 means no limit"))
	}
	if c.MaxQoS > 2 {
		errs = append(errs, errors.New("max_qos: must be 0, 1 or 2"))
	}
	return errors.Join(errs...)
}

// maxKeepAlive is the longest keep-alive for which the 16-bit sum of one and a
// half keep-alives does not overflow.
const maxKeepAlive = 43690 * time.Second
