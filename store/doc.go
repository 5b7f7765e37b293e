// Package store keeps what sensegate must remember in one bbolt file.
//
// It knows tables, indexes, transactions, migrations and the shape of every
// record on disk. It must not publish, call a device, know HTTP or MQTT, or
// hold a rule of the product: it checks only what keeps its own records whole.
//
// # Concurrency
//
// A DB may be used by any number of goroutines. Any number of View
// transactions run beside one Update; Updates run one after the other. A Tx
// belongs to the goroutine that its function runs on and is dead when the
// function returns. Never start an Update inside a View of the same goroutine:
// the file may have to grow, which waits for every reader. Inside a
// transaction there is no I/O, publishing or device call; Tx.OnCommit is for
// what follows from it.
//
// # On disk
//
// Keys are fixed-width big-endian integers (u32, u64), 6-byte MACs and text;
// text stands last in a key, so nothing needs a terminator. The value of a record
// and of meta is JSON, followed by CRC32C u32, little-endian, of its key and that
// JSON; "schema" has no checksum, and samples have their own. µs is microseconds
// since the Unix epoch. A record table is followed by its indexes, whose values are
// keys of the table.
//
//	meta                      what           → JSON
//	                          "schema"         version the file was migrated to, number
//	                          "installed_at"   when the file was made, seconds
//	                          "adoption_until" when the adoption window of networks without an owner ends, seconds
//	                          "samples"        how far samples are summed up, and the clock of retention: {summed, retention, expiring}
//	                          "instance"       by which brokers outside tell this appliance from others, 8 hexadecimal digits
//	                          "clock_unset"    when the appliance worked by a clock that was not set: UnsetRun
//	                          "health"         unclean stops and the last recovery: Health without read_only
//	                          "wipe"           what was deleted and may still stand in free pages: {deletions, network}
//	                          "owned"          networks that were owned and deleted, at most 1024: SHA-256, hex, of the guardian id, and the owner who deleted it
//	                          "reform_until"   by SHA-256, hex, of the id of a device of a deleted network: until when it may form that anew or join it by itself, seconds, and the SHA-256, hex, of the guardian id, its address and MAC: {until, guardian, address, mac}
//	                          "handovers"      networks that go, or have gone, to another box: Handover
//	                          "departed"       networks that were deleted after they had gone: Departed
//	                          "arrivals"       the last 64 networks that came from another box: Arrival
//	                          "importing"      where the history lies of a network that is being taken in: {network, home}; the next start removes it
//	                          "provisioned"    when what a file of an integrator's asked for was made, and the SHA-256 of that, hex: Provisioned
//	                          "setup_code"     SHA-256 of the setup code, hex, the users who have shown one, and what each showed
//
//	networks                  network u32    → motion.Network; the sequence gives network ids
//	  networks_by_guardian    guardian_id    → network u32
//
//	nodes                     node u32       → motion.Node; the sequence gives node and leaf ids
//	  nodes_by_device         deviceId       → node u32
//	  nodes_by_bssid          mac, node u32  → node u32
//	  nodes_by_name           network u32, node_name → node u32
//	radars                    node u32       → motion.Radar, the last one seen
//
//	leafs                     leaf u32       → motion.Leaf
//	  leafs_by_mac            network u32, mac → leaf u32
//	links                     network u32, link_id → motion.Link
//	status                    network u32    → motion.StatusReport, the last whole one, up to six hours late
//	status_heard              network u32    → StatusHeard: what changes with every report
//
//	events                    network u32, ts µs u64, id 16 bytes → motion.Event, "_dedupe" and "_seq"
//	  events_by_id            id 16 bytes    → key of events
//	  events_by_dedupe        network u32, first 16 bytes of SHA-256 of the dedupe text → key of events
//	  events_by_seq           number u64     → key of events, of those stored while an uplink wanted events
//
//	devices                   kind "/" id    → motion.Device
//	  devices_by_network      network u32, kind "/" id → kind "/" id
//	heard                     kind "/" id    → last sign of life of an adopted device: {at, address}
//	device_tokens             kind "/" id    → SHA-256 of its tokens, hex: {current, next}
//	pending                   id of the entry → motion.PendingDevice, at most 256, up to ten minutes late but for approvals
//	adoption_windows          network u32    → when its own adoption window ends or was closed, and the installer who opened it: {until, by}, seconds
//
//	api_keys                  key u32        → APIKey and SHA-256 of its secret, hex
//	  api_keys_by_hash        SHA-256, 32 bytes → key u32
//	  api_keys_by_name        name           → key u32
//	integration_users         name           → IntegrationUser and SHA-256 of its secret, hex
//
//	detector_states           network u32    → what the detectors of a network have learned, opaque
//	event_states              network u32    → the event state machine of a network, opaque
//
//	application_settings      network u32    → motion.ApplicationSettings
//
//	commands                  command u64    → command.Command
//	  commands_by_network     network u32, command u64 → command u64
//	  commands_by_node        node u32, command u64 → command u64
//	  commands_by_batch       batch u64, command u64 → command u64
//	  commands_by_state       network u32, state 3 bytes, command u64 → command u64
//	  commands_by_trigger     trigger u64, command u64 → command u64, of those in state 001
//	batches                   batch u64      → command.Batch
//	  batches_by_network      network u32, batch u64 → batch u64
//
//	samples_journal           block start u32, flush u32, step u32 → 0 → rows of the open blocks of all networks (samples/journal.go)
//	samples_1s                block start u32, last network u32 → block of 10 minutes of live frames, or such of several networks (samples/pack.go)
//	samples_5s                block start u32, last network u32 → the same of blocks of 1 hour: devices' history, sums of samples_1s
//	samples_60s               block start u32, last network u32 → the same of blocks of 6 hours: sums of samples_5s
//	samples_900s              block start u32, last network u32 → the same of blocks of 4 days: sums of samples_60s
//
//	alerts                    network u32, uuid → Alert; the sequence numbers alerts and their jobs
//	pushes                    network u32, push u64 → Push, at most 256 of a network
//
//	users                     user u64       → home.User, the PHC hash of a password, accounts at identity providers, AddressProof, trusted, administrator
//	  users_by_email          address in lower case → user u64
//	  users_by_sub            subject        → user u64
//	  users_by_identity       SHA-256 of issuer 0 subject → user u64
//	  users_by_unconfirmed    ms since the epoch u64, user u64 → user u64, by when they were made, of those not confirmed
//	sessions                  sid            → Session
//	  sessions_by_user        user u64, sid  → sid
//	  sessions_by_expiry      µs u64, sid    → sid
//	familiar                  user u64       → SHA-256 of the addresses that they log in from, hex, at most 8
//	homes                     home u32       → home.Home
//	  homes_by_network        network u32    → home u32
//	memberships               membership u32 → home.Membership
//	  memberships_by_home     home u32, user u64 → membership u32
//	  memberships_by_user     user u64, membership u32 → membership u32
//	invitations               invitation u32 → home.Invitation, open_since and SHA-256 of its token, hex
//	  invitations_by_home     home u32, address in lower case → invitation u32
//	home_locations            location u32   → home.Location, those that homes have added
//	  home_locations_by_home  home u32, location u32 → location u32
//	home_meta                 home u32       → what apps keep for a home, an object
//	user_meta                 user u64       → what apps keep for a user, an object
//	scene_configs             scene config u32 → home.SceneConfig, one of each home
//	armed                     network u32, µs u64 → motion.ArmedChange and "_number", of 2 years, at most 4,096 of a network
//
//	mails                     mail u64       → Mail, the outbox: at most 1,000, of 30 days
//	  mails_by_address        SHA-256 of the address in lower case, mail u64 → mail u64
//	  mails_by_user           user u64, mail u64 → mail u64
//	  mails_by_home           home u32, mail u64 → mail u64
//	  mails_by_due            ms since the epoch u64, mail u64 → mail u64, of those to be sent
//
//	mobiles                   mobile u32     → MobileDevice
//	  mobiles_by_token        SHA-256 of the token, of a shared one after user u64 → mobile u32
//	  mobiles_by_user         user u64, mobile u32 → mobile u32
//	deliveries                delivery u64   → Delivery, a push on its way to one receiver
//	  deliveries_by_due       ms since the epoch u64, delivery u64 → delivery u64
//	  deliveries_by_network   network u32, delivery u64 → delivery u64
//
//	sensor_integrations       integration u32 → sensor.Integration, at most one of a home
//	  sensor_integrations_by_home home u32   → integration u32
//	  sensor_integrations_by_account userThingName → integration u32
//	sensor_farewells          userThingName  → sensor.PendingDeletion, accounts to be deleted at their providers
//	sensor_cursors            provider       → how far its messages have been taken, text
//	sensors                   device u32     → sensor.Device, hubs and sensors
//	  sensors_by_home         home u32, thingName → device u32
//	detections                home u32, ts µs u64, id 16 bytes → sensor.Detection and "_sensor", device u32
//	  detections_by_sensor    device u32, key of detections → key of detections
//
//	uplinks                   name           → Uplink, those made in the app
//	uplink_cursors            name           → UplinkCursor, of all uplinks, up to ten seconds late
//	uplink_published          name           → topics that its broker keeps for Home Assistant: {topic: {key: platform}}
//	rooms                     network u32    → ids of its rooms by name: {last, rooms}
//
//	audit                     line u64       → AuditLine, as long as events, at most 20,000
//
// What changes all the time is kept apart (heard, status_heard): a commit every ten
// minutes rewrites a few small values and leaves the pages of devices, nodes,
// networks and reports alone. Reading one of these lays it over the record.
//
// Beside the file FILE lie FILE.pid, the process that holds it, which stays when that
// does not end in order; FILE.new while it, or what replaces it, is being made;
// FILE.salvage while what can be read of a damaged one is copied; FILE.replaced-TIME,
// what a restore has replaced; FILE.damaged-TIME, a damaged one that was replaced; and
// the directory backups: TIME.backup, those of the last nights, and
// TIME-schemaN.backup, a copy from before the migration that led away from schema N. A
// backup is the pages of FILE and a seal (file/seal.go).
package store
