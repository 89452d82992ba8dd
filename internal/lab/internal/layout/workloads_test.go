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

// A lab keeps its range, unless another one has taken it meanwhile.
func TestKeepRange(t *testing.T) {
	dir := Dir(t.TempDir())
	keep := func() (Range, func()) {
		t.Helper()
		r, claim, err := KeepRange(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return r, func() {
			if err := claim.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	first, leave := keep()
	leave()
	for range 5 {
		again, leave := keep()
		if leave(); again != first {
			t.Errorf("the range is %d, and was %d", again, first)
		}
	}
	taken, err := first.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // The end of the test closes it as well.
	other, leave := keep()
	if leave(); other == first {
		t.Errorf("the range %d is another lab's", other)
	}
}
