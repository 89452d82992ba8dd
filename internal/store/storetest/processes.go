package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The environment variables that tell a child process what to do, and where.
const (
	envChild   = "STORETEST_CHILD"
	envAddress = "STORETEST_ADDRESS"
)

// child is another process that works on the same place. It says what it did, one
// word per line, and goes on when it is spoken to.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start runs the test binary again.
func start(t *testing.T, address, role string) *child {
	t.Helper()
	parts := strings.Split(t.Name(), "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	// The last part is the test of the suite; the child ends in Run before it.
	pattern := strings.Join(parts[:len(parts)-1], "/")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern, "-test.count=1") //nolint:gosec // The test binary itself.
	// The child ends without removing its temporary files.
	cmd.Env = append(os.Environ(), envChild+"="+role, envAddress+"="+address, "TMPDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	// A child that nobody waited for is ended.
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return c
}

// hear waits for the child to say a word.
func (c *child) hear(t *testing.T, word string) {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the child process ended, want it to say %q", word)
	}
	if got := c.out.Text(); got != word {
		t.Fatalf("the child process says %q, want %q", got, word)
	}
}

// kill ends the child as kill -9 does, and leaves it unwaited for, as a zombie, until
// the test ends.
func (c *child) kill(t *testing.T) {
	t.Helper()
	must(t, c.cmd.Process.Kill())
	// The end of its output is the end of the process.
	_, err := io.Copy(io.Discard, endOf(c.out))
	must(t, err)
}

func endOf(s *bufio.Scanner) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		if s.Scan() {
			return 0, nil
		}
		return 0, io.EOF
	})
}

func (c *child) wait(t *testing.T) {
	t.Helper()
	must(t, c.in.Close())
	for c.out.Scan() {
		t.Log("child process:", c.out.Text())
	}
	must(t, c.cmd.Wait())
}

// runAsChild does what a child process is for, and ends it. In the process that
// runs the tests it does nothing.
func runAsChild(t *testing.T, b Backend) {
	role := os.Getenv(envChild)
	if role == "" {
		return
	}
	s, err := b.Open(t.Context(), os.Getenv(envAddress))
	if err == nil {
		err = errors.Join(roles()[role](t.Context(), s), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func roles() map[string]func(ctx context.Context, s store.Store) error {
	return map[string]func(ctx context.Context, s store.Store) error{
		"write":        roleWrite,
		"write little": roleWriteLittle,
		"take turns":   roleTakeTurns,
		"hold":         func(ctx context.Context, s store.Store) error { return roleHold(ctx, s, process.Name()) },
		"hold unknown": func(ctx context.Context, s store.Store) error { return roleHold(ctx, s, "somebody elsewhere") },
		"hold, write":  roleHoldWrite,
	}
}

const perProcess = 25

// turnsPerProcess is how often each process takes its turn.
const turnsPerProcess = 5

// roleWrite counts, creates records and competes for natural keys.
func roleWrite(ctx context.Context, s store.Store) error {
	counter := store.Record{Kind: store.KindVIM, ID: "counter", Data: []byte("0")}
	if err := s.Create(ctx, &counter); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	for i := range perProcess {
		if err := increment(ctx, s); err != nil {
			return err
		}
		r := store.Record{Kind: store.KindInstance, ID: fmt.Sprintf("%d-%d", os.Getpid(), i), Key: fmt.Sprint(i)}
		if err := s.Create(ctx, &r); err != nil && !errors.Is(err, store.ErrExists) {
			return err
		}
		content := strings.Repeat(fmt.Sprint(i), 1000)
		if err := s.PutBlob(ctx, digestOf(content), reader(content)); err != nil {
			return err
		}
	}
	return nil
}

// roleTakeTurns counts without looking whether somebody else does, under a lease. A turn whose lease was lost, because the
// machine is busy, wrote nothing and is taken again.
func roleTakeTurns(ctx context.Context, s store.Store) error {
	for turns := 0; turns < turnsPerProcess; {
		l, err := s.Acquire(ctx, "turn", process.Name())
		if errors.As(err, new(*store.HeldError)) {
			_ = poll.Sleep(ctx, 10*time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		switch err := errors.Join(countUnder(ctx, s, l), l.Release(ctx)); {
		case err == nil:
			turns++
		case !errors.As(err, new(*vnfm.LeaseLostError)):
			return err
		}
	}
	return nil
}

// countUnder adds one to the number in the record "counter" under a lease.
func countUnder(ctx context.Context, s store.Store, l store.Lease) error {
	r, err := counted(ctx, s)
	if err != nil {
		return err
	}
	// Whoever holds the lease too writes in between.
	if err := poll.Sleep(ctx, 20*time.Millisecond); err != nil {
		return err
	}
	return s.Update(store.Under(ctx, l.Fence()), r)
}

// roleHold holds a lease until it is lost or the parent hangs up.
func roleHold(ctx context.Context, s store.Store, holder string) error {
	l, err := s.Acquire(ctx, "a", holder)
	if err != nil {
		return err
	}
	fmt.Println("held by", holder) //nolint:forbidigo // The parent process reads it.
	hungUp := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		hungUp <- err
	}()
	select {
	case <-l.Lost():
		fmt.Println("lost") //nolint:forbidigo // As above.
		// As a process does that was stopped between its last look at the lease and a write.
		err := increment(store.Under(ctx, l.Fence()), s)
		if !errors.As(err, new(*vnfm.LeaseLostError)) {
			return fmt.Errorf("a write after the lease was lost = %w, want a LeaseLostError", err)
		}
		fmt.Println("refused") //nolint:forbidigo // As above.
	case err := <-hungUp:
		return errors.Join(err, l.Release(ctx))
	}
	return l.Release(ctx)
}

// roleHoldWrite writes under a lease until it is killed.
func roleHoldWrite(ctx context.Context, s store.Store) error {
	if _, err := s.Acquire(ctx, "a", process.Name()); err != nil {
		return err
	}
	fmt.Println("held by", process.Name()) //nolint:forbidigo // The parent process reads it.
	for i := 0; ; i++ {
		content := strings.Repeat(fmt.Sprintln(i), 50_000)
		r := store.Record{Kind: store.KindPackage, ID: digestOf(content), Data: []byte(content)}
		if err := errors.Join(s.Create(ctx, &r), s.PutBlob(ctx, r.ID, reader(content)), increment(ctx, s)); err != nil {
			return err
		}
	}
}

func testProcessesRecords(t *testing.T, b Backend) {
	const processes = 4
	address := b.New(t)
	// Nothing is there yet: the processes also compete for making the place.
	children := make([]*child, processes)
	for i := range children {
		children[i] = start(t, address, "write")
	}
	for _, c := range children {
		c.wait(t)
	}
	s := b.open(t, address, 1)[0]
	same(t, "counter", string(get(t, s, store.KindVIM, "counter").Data), fmt.Sprint(processes*perProcess))
	list, err := s.List(t.Context(), store.Query{Kind: store.KindInstance})
	must(t, err)
	same(t, "number of natural keys", len(list), perProcess)
	for i := range perProcess {
		wantBlob(t, s, strings.Repeat(fmt.Sprint(i), 1000))
	}
}

func testProcessesLease(t *testing.T, b Backend) {
	const processes = 3
	address := b.New(t)
	s := b.open(t, address, 1)[0]
	create(t, s, store.Record{Kind: store.KindVIM, ID: "counter", Data: []byte("0")})
	children := make([]*child, processes)
	for i := range children {
		children[i] = start(t, address, "take turns")
	}
	for _, c := range children {
		c.wait(t)
	}
	same(t, "counter", string(get(t, s, store.KindVIM, "counter").Data), fmt.Sprint(processes*turnsPerProcess))
}

// testProcessKilled kills a process in the middle of its writes: everything is
// readable afterwards, and its lease is free at once where the machine can tell that
// the process is dead, else when it expires.
func testProcessKilled(t *testing.T, b Backend) {
	address := b.New(t)
	first := b.open(t, address, 1)[0]
	create(t, first, store.Record{Kind: store.KindVIM, ID: "counter", Data: []byte("0")})
	c := start(t, address, "hold, write")
	if !c.out.Scan() {
		t.Fatal("the child process ended")
	}
	holder := strings.TrimPrefix(c.out.Text(), "held by ")
	wantHeld(t, first, holder)
	for string(get(t, first, store.KindVIM, "counter").Data) == "0" {
		_ = poll.Sleep(t.Context(), time.Millisecond)
	}
	c.kill(t)

	killed := time.Now()
	s := b.open(t, address, 1)[0]
	var l store.Lease
	if runtime.GOOS == "linux" {
		// A process closes its files a moment before it is dead.
		for !process.Dead(holder) {
			if time.Since(killed) > time.Minute {
				t.Fatalf("a minute after it was killed, the holder %s is not known to be dead", holder)
			}
			_ = poll.Sleep(t.Context(), time.Millisecond)
		}
		l = acquire(t, s, "a")
	} else {
		l = acquireWithin(t, b, s, killed)
	}
	same(t, "TakenOver of the lease of a killed process", l.TakenOver(), true)
	must(t, l.Release(t.Context()))

	list, err := s.List(t.Context(), store.Query{Kind: store.KindPackage})
	must(t, err)
	if len(list) == 0 {
		t.Fatal("the child process wrote nothing")
	}
	for i, r := range list {
		same(t, "digest of a record", digestOf(string(r.Data)), r.ID)
		content, err := readBlob(t.Context(), s, r.ID)
		if last := i == len(list)-1; last && errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil || content != string(r.Data) {
			t.Errorf("content %d of %d reads as %d bytes, %v", i, len(list), len(content), err)
		}
	}
	must(t, increment(t.Context(), s))
}

// testUnknownProcessKilled is the same where nobody can tell whether the holder lives.
func testUnknownProcessKilled(t *testing.T, b Backend) {
	address := b.New(t)
	c := start(t, address, "hold unknown")
	c.hear(t, "held by somebody elsewhere")
	s := b.open(t, address, 1)[0]
	wantHeld(t, s, "somebody elsewhere")
	c.kill(t)
	killed := time.Now()
	wantHeld(t, s, "somebody elsewhere")
	l := acquireWithin(t, b, s, killed)
	same(t, "TakenOver of a lease that expired", l.TakenOver(), true)
	must(t, l.Release(t.Context()))
}

// acquireWithin waits for the lease of a holder that stopped renewing at a time.
func acquireWithin(t *testing.T, b Backend, s store.Store, stopped time.Time) store.Lease {
	t.Helper()
	for {
		l, err := s.Acquire(t.Context(), "a", process.Name())
		if err == nil {
			return l
		}
		if _, held := errors.AsType[*store.HeldError](err); !held {
			t.Fatalf("acquiring: %v", err)
		}
		// Many times, for machines that are busy with something else.
		if time.Since(stopped) > 20*b.Lease {
			t.Fatalf("%s after its holder stopped, the lease of %s is not free: %v", time.Since(stopped), b.Lease, err)
		}
		_ = poll.Sleep(t.Context(), b.Lease/50)
	}
}
