package motion

// ApplicationSettings are when a household sleeps and which clocks it lives by:
// one record per network, which the application settings of Core (payloads.md
// 4.11) and the sleep-wake settings of App Cloud (interfaces.md 2.4 no. 1) both
// show.
type ApplicationSettings struct {
	NetworkID   NetworkID `json:"network_id" doc:"Core network id" example:"1042"`
	Timezone    string    `json:"timezone" doc:"IANA name of the time zone" example:"America/Toronto"`
	Enabled     bool      `json:"enabled" doc:"Whether nights are looked at; false: no sleep is told"`
	SleepHour   int       `json:"sleep_hour" minimum:"0" maximum:"23" doc:"On the clocks of the time zone" example:"23"`
	SleepMinute int       `json:"sleep_minute" minimum:"0" maximum:"59" example:"0"`
	WakeHour    int       `json:"wake_hour" minimum:"0" maximum:"23" example:"7"`
	WakeMinute  int       `json:"wake_minute" minimum:"0" maximum:"59" example:"0"`
}

// DefaultApplicationSettings returns the template of a network that has none of
// its own (interfaces.md 2.4 no. 1), in UTC.
func DefaultApplicationSettings(id NetworkID) ApplicationSettings {
	return ApplicationSettings{NetworkID: id, Timezone: "UTC", SleepHour: 23, WakeHour: 7}
}
