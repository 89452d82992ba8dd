package loadbalancer

import "time"

// SetTakeover sets how long load balancers may take to take the virtual address, and returns what undoes it.
func SetTakeover(d time.Duration) func() {
	was := takeover
	takeover = d
	return func() { takeover = was }
}
