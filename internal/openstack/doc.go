// Package openstack is what all that speaks to an OpenStack shares: authentication in
// its ways, the catalogue, requests with time limits, and errors that say what was asked
// of which service and what it said. It stands on gophercloud's session; what is asked
// of services is a few requests of its own, so that all fail alike.
package openstack
