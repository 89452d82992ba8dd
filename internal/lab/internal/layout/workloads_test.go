package layout

import "testing"

func TestRanges(t *testing.T) {
	taken := map[Range]bool{}
	for range 3 {
		r, claim, err := ChooseRange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Close() //nolint:errcheck // The test is over.
		if taken[r] {
			t.Errorf("range %d was given away twice", r)
		}
		taken[r] = true
		if r.First() <= int(r) || r.Last() >= firstBlock || r.Last() <= r.First() {
			t.Errorf("range %d goes from %d to %d", r, r.First(), r.Last())
		}
		if again, err := r.Claim(t.Context()); err == nil {
			t.Errorf("range %d can be claimed twice", r)
			_ = again.Close()
		}
	}
}

func TestPortsAreDistinct(t *testing.T) {
	ports := Ports(firstBlock)
	seen := map[int]bool{}
	for _, port := range append(ports.ours(), ports.theirs()...) {
		if seen[port] || port < firstBlock || port >= firstBlock+blockSize {
			t.Errorf("port %d occurs twice or lies outside its block", port)
		}
		seen[port] = true
	}
}
