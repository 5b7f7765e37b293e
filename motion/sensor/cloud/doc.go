// Package cloud is the sensor provider for an HTTP sensor cloud. It knows the cloud's
// interface, which is small and the product's own:
//
//	PUT    {url}/v1/accounts/{user}                      make an account, or find it made
//	DELETE {url}/v1/accounts/{user}                      with everything that is tied to it
//	GET    {url}/v1/accounts/{user}/things               [List]
//	POST   {url}/v1/accounts/{user}/things/{hub}/pair    [Pairing]
//	PATCH  {url}/v1/accounts/{user}/things/{thing}       [Settings]
//	DELETE {url}/v1/accounts/{user}/things/{thing}       of a hub: with its sensors
//	GET    {url}/v1/feed?after=CURSOR&wait=25&limit=500  [Feed]
//
// Every call has the header Authorization: Bearer <key> and is idempotent. The feed returns
// the readings of all things of all accounts of the key; it waits for up to wait seconds until
// there is one after the cursor. Without a cursor it returns its end at once; for an unknown
// cursor it returns 410.
//
// The package must not know which readings are stored, or who is notified. It follows no
// redirect, so that the key reaches only the configured host, and logs neither key nor
// answers.
//
// Concurrency. All exported methods may be called concurrently, Run once.
package cloud
