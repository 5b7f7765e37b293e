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
// Every call carries Authorization: Bearer <key>; every one can be repeated without
// harm. The feed has what the things of all accounts of the key have told, and waits
// for up to wait seconds until there is something after the cursor. Without a cursor it
// answers at once with where it ends; a cursor that it no longer knows is 410.
//
// It must not know what is kept of a reading, or who is told. No redirect is followed,
// because a key goes where it was meant to go; neither key nor answers are logged.
//
// Concurrency. All exported methods may be called concurrently, Run once.
package cloud
