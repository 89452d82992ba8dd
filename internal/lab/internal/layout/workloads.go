package layout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// The API servers of workload clusters in memory take one port after the other, and none twice. Their ranges lie below
// the blocks of the labs.
const (
	firstRange = 12000
	rangeSize  = 500
	ranges     = 20
)

// Range is the range of ports of a lab's workload clusters in memory, named by its first port.
type Range int

// First is the port of the first workload cluster; the port before it is the claim on the range.
func (r Range) First() int { return int(r) + 1 }

// Last is the port of the last workload cluster.
func (r Range) Last() int { return int(r) + rangeSize - 1 }

// Claim keeps other labs off the range while the listener, or a copy of it in another process, is open.
func (r Range) Claim(ctx context.Context) (*net.TCPListener, error) {
	return listen(ctx, int(r))
}

// ChooseRange finds a range that no other lab has, and claims it.
func ChooseRange(ctx context.Context) (Range, *net.TCPListener, error) {
	var errs []error
	for _, i := range rand.Perm(ranges) { //nolint:gosec // Any order does, nobody guards against guessing it.
		r := Range(firstRange + rangeSize*i)
		claim, err := r.Claim(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := probe(ctx, []int{r.First()}); err != nil {
			errs = append(errs, err, claim.Close())
			continue
		}
		return r, claim, nil
	}
	return 0, nil, fmt.Errorf("all %d ranges of ports for workload clusters in memory are taken: %w", ranges, errors.Join(errs...))
}

// KeepRange claims the range that a lab had before, or chooses one. Clusters that outlive their manager keep their ports, and
// upstream's next one goes on above the highest of them: in another range there may be none left.
func KeepRange(ctx context.Context, dir Dir) (Range, *net.TCPListener, error) {
	file := dir.Path("in-memory-ports")
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, fmt.Errorf("reading which ports workload clusters in memory have: %w", err)
	}
	if n, err := strconv.Atoi(string(data)); err == nil {
		if claim, err := Range(n).Claim(ctx); err == nil {
			return Range(n), claim, nil
		}
		// Another lab has taken it meanwhile.
	}
	r, claim, err := ChooseRange(ctx)
	if err != nil {
		return 0, nil, err
	}
	if err := WriteFile(file, []byte(strconv.Itoa(int(r)))); err != nil {
		return 0, nil, errors.Join(err, claim.Close())
	}
	return r, claim, nil
}
