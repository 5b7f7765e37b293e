package integration

import (
	"context"
	"maps"
	"slices"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// Offer is a provider that a home may choose.
type Offer struct {
	Name   string `json:"name" example:"zigbee2mqtt"`
	Bridge bool   `json:"bridge" doc:"It connects to this appliance's broker, with a user that POST /bridge-user makes"`
}

// Offers returns the providers that a home may choose, by name, and the name of the one that it has, "" for none. A
// provider is left out that serves another network, or that has nothing to serve with yet.
func (s *Service) Offers(ctx context.Context, h home.ID) (offers []Offer, used string, err error) {
	i, err := s.Integration(ctx, h)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, "", err
	}
	house, err := store.Read(ctx, s.db, func(tx *store.Tx) (home.Home, error) { return tx.Home(h) })
	if err != nil {
		return nil, "", err
	}
	i.Network = house.ExternalID
	if i.Account.UserThingName != "" {
		used = i.Provider
	}
	offers = []Offer{}
	for _, name := range slices.Sorted(maps.Keys(s.options.Providers)) {
		i.Provider = name
		p, err := s.provider(i)
		idle, ok := p.(sensor.Idler)
		if name != used && (err != nil || ok && idle.Idle()) {
			continue
		}
		_, bridge := s.options.Providers[name].(sensor.Bridged)
		offers = append(offers, Offer{Name: name, Bridge: bridge})
	}
	return offers, used, nil
}
