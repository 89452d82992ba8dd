// Package catalog keeps VNF packages and Helm charts: it reads and verifies their sources,
// stores equal contents once, and removes unused ones.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config says what a Catalog stands on.
type Config struct {
	// Store opens the store, which is open after the first call.
	Store func(ctx context.Context) (*seal.Store, error)
	// WithReferences runs a function under the lease of the references between records, which
	// every removal needs.
	WithReferences func(ctx context.Context, s store.Store, do func(ctx context.Context) error) error
	// PackageInUse reports whether something needs a package. It is called under WithReferences.
	PackageInUse func(ctx context.Context, s store.Store, id string) (bool, error)
	// PackageUse is what PackageInUse reads.
	PackageUse func(id string) []store.Wanted
	// Concurrency bounds the files that are stored at the same time.
	Concurrency int
}

// Catalog is the catalogue of packages and charts. It is safe for concurrent use.
type Catalog struct {
	cfg Config

	// read holds the packages that this process has read, so that an instance can be
	// previewed in the same plan that introduces its package.
	readMu sync.Mutex
	read   map[string]*vnfm.Package
	// opened are packages of the store that this process has opened: a record of many files takes a while to decode.
	opened []openedPackage

	// contents are the small files of packages that this process has opened.
	contents contentCache
}

// New returns a Catalog.
func New(cfg Config) *Catalog { return &Catalog{cfg: cfg, read: map[string]*vnfm.Package{}} }

func (c *Catalog) withContent(ctx context.Context, en *records.Entry[packageRecord]) (*vnfm.Package, error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	if err := openWorkloads(ctx, s, en); err != nil {
		return nil, err
	}
	p := en.Value.Package
	files := newContent(s, &c.contents, p.Files, en.Value.Bundle, en.Value.Origin.Location)
	files.access = en.Value.access
	p.Content = files
	return &p, nil
}

// OnboardPackage implements vnfm.Manager. In a refresh over a store that may only be read the package
// is that of its source.
func (c *Catalog) OnboardPackage(ctx context.Context, spec vnfm.PackageSpec, wantID string) (*vnfm.Package, vnfm.Problems, error) {
	p, problems, err := c.onboard(ctx, spec, wantID)
	if errors.Is(err, store.ErrReadOnly) && vnfm.IsRefresh(ctx) {
		vnfm.NoteUnwritten(ctx, err)
		return c.ReadPackage(ctx, spec)
	}
	return p, problems, err
}

func (c *Catalog) onboard(ctx context.Context, spec vnfm.PackageSpec, wantID string) (*vnfm.Package, vnfm.Problems, error) {
	if s, err := c.cfg.Store(ctx); err == nil {
		store.ReadAhead(ctx, s, store.Wanted{Lease: records.ReferencesLease})
	}
	r, err := c.readSource(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	if r.problems.HasErrors() {
		return nil, r.problems, nil
	}
	if wantID != "" && r.pkg.ID != wantID {
		return nil, nil, fmt.Errorf("the content of package %q changed between plan and apply: planned is %s, the source now holds %s; run plan again", spec.Name, wantID, r.pkg.ID)
	}
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r.stored {
		err := c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			if err := share(ctx, s, r.pkg.ID, func(shares *records.Shares) bool { return shares.Take(spec.Share) }); err != nil {
				return err
			}
			return renewAccess(ctx, s, r.pkg.ID, spec.Access)
		})
		if errors.Is(err, vnfm.ErrNotFound) {
			// Another process has removed it since: the source is read.
			return c.onboard(ctx, spec, wantID)
		}
		return r.pkg, r.problems, err
	}
	en := &records.Entry[packageRecord]{Rec: store.Record{Kind: store.KindPackage, ID: r.pkg.ID, Owner: spec.Name}}
	en.Value = packageRecord{Package: *r.pkg, Origin: r.origin, access: spec.Access}
	en.Value.Shares.Take(spec.Share)
	en.Value.OnboardedAt = time.Now().UTC()
	if err := sealWorkloads(ctx, s, en); err != nil {
		return nil, nil, err
	}
	err = c.keepContents(ctx, s, func() (digests []string, err error) {
		left := &leftOut{location: en.Value.Origin.Location}
		en.Value.Bundle, digests, err = c.putFiles(ctx, s, r.pkg, left)
		return left.without(digests), err
	}, func(ctx context.Context) error {
		err := en.Create(ctx, s)
		if errors.Is(err, store.ErrExists) {
			en, err = c.refreshOrigin(ctx, s, en)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	p, err := c.withContent(ctx, en)
	if err != nil {
		return nil, nil, err
	}
	c.remember(p)
	return p, r.problems, nil
}

// refreshOrigin notes in the record of a content that is onboarded already where
// it was read from this time.
func (c *Catalog) refreshOrigin(ctx context.Context, s store.Store, fresh *records.Entry[packageRecord]) (*records.Entry[packageRecord], error) {
	en, err := records.Get[packageRecord](ctx, s, store.KindPackage, fresh.Rec.ID)
	if err != nil {
		return nil, err
	}
	onboarded, shares, before := en.Value.OnboardedAt, en.Value.Shares, en.Value.contents()
	for _, taken := range fresh.Value.Shares {
		shares.Take(taken.ID)
	}
	en.Value, en.Rec.Sealed = fresh.Value, fresh.Rec.Sealed
	en.Value.OnboardedAt, en.Value.Shares = onboarded, shares
	if err := en.Update(ctx, s); err != nil {
		return nil, err
	}
	if now := en.Value.contents(); !slices.ContainsFunc(before, func(digest string) bool { return !slices.Contains(now, digest) }) {
		return en, nil
	}
	// External artifacts are no longer part of it.
	return en, deleteContents(ctx, s, before...)
}

// putFiles keeps all files of a package: the small ones in a bundle, of which it
// returns the digest, and the others several at a time, since each waits for the disk.
// It returns the digests of the contents that this makes; those that are too large are noted in left.
func (c *Catalog) putFiles(ctx context.Context, s store.Store, p *vnfm.Package, left *leftOut) (bundle string, digests []string, err error) {
	ctx = store.Foreseeing(ctx, records.ReferencesLease)
	bundle, rest, err := c.putBundle(ctx, s, p)
	if err != nil {
		return "", nil, err
	}
	if bundle != "" {
		digests = append(digests, bundle)
	}
	for _, f := range rest {
		digests = append(digests, f.Digest)
	}
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group errgroup.Group
	group.SetLimit(c.cfg.Concurrency)
	for _, f := range rest {
		if work.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := left.note(f, putFile(work, s, p, f)); err != nil {
				cancel(err)
			}
			return nil
		})
	}
	// The first cause counts: that of the context, or the error of a file. The functions return none.
	_ = group.Wait()
	return bundle, digests, context.Cause(work)
}

func putFile(ctx context.Context, s store.Store, p *vnfm.Package, f vnfm.PackageFile) error {
	if limit := store.MaxContent(s); limit > 0 && f.Size > limit {
		// The store would find out when it has received as much.
		return fmt.Errorf("storing %s of package %q: %w", f.Path, p.Name, &store.TooLargeError{What: "content " + f.Digest, Size: f.Size, Limit: limit})
	}
	file, err := p.Content.Open(f.Path)
	if err != nil {
		return fmt.Errorf("reading %s of package %q: %w", f.Path, p.Name, err)
	}
	defer func() { _ = file.Close() }()
	if err := s.PutBlob(ctx, f.Digest, file); err != nil {
		return fmt.Errorf("storing %s of package %q: %w", f.Path, p.Name, err)
	}
	return nil
}

// record opens the store and reads the record of a package.
func (c *Catalog) record(ctx context.Context, id string) (*seal.Store, *records.Entry[packageRecord], error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := getPackage(ctx, s, id)
	return s, en, err
}

// PackageByName implements vnfm.Manager: the version that was onboarded last.
func (c *Catalog) PackageByName(ctx context.Context, name string) (*vnfm.Package, error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := records.List[packageRecord](ctx, s, store.Query{Kind: store.KindPackage, Owner: name})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(en *records.Entry[packageRecord]) bool { return en.Value.Removing })
	if len(all) == 0 {
		return nil, records.NotFound(store.KindPackage, name)
	}
	last := all[len(all)-1]
	for _, en := range all {
		if last.Value.Superseded || (!en.Value.Superseded && en.Value.OnboardedAt.After(last.Value.OnboardedAt)) {
			last = en
		}
	}
	return c.withContent(ctx, last)
}

// Packages implements vnfm.Manager. Sealed values stay sealed.
func (c *Catalog) Packages(ctx context.Context, f vnfm.PackageFilter) ([]vnfm.Package, error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	return records.Values(ctx, s, store.KindPackage, func(r *packageRecord) (vnfm.Package, bool) {
		return r.Package, !r.Removing && f.Selects(&r.Package)
	})
}

// KnownPackage implements vnfm.Manager.
func (c *Catalog) KnownPackage(ctx context.Context, id string) (vnfm.KnownPackage, error) {
	_, en, err := c.record(ctx, id)
	if err != nil {
		return vnfm.KnownPackage{}, err
	}
	o := en.Value.Origin
	if o.Location == "" {
		return vnfm.KnownPackage{}, records.NotFound(store.KindPackage, id)
	}
	return vnfm.KnownPackage{ID: id, PackageSpec: vnfm.PackageSpec{
		Name: en.Value.Name, Source: o.Location, Integrity: o.Integrity, Signature: o.Signature, Trust: o.Trust, ExternalArtifacts: o.External,
	}}, nil
}

// HoldPackage implements vnfm.Manager.
func (c *Catalog) HoldPackage(ctx context.Context, id, shareID string) (*vnfm.Package, error) {
	s, en, err := c.record(ctx, id)
	if err != nil {
		return nil, err
	}
	c.readAhead(ctx, s, en)
	if err := c.checkBundle(ctx, s, en); err != nil {
		return nil, err
	}
	// Each refresh looks; a lease is taken where there is something to note.
	if en.Value.Superseded || en.Value.Shares.Acknowledge(shareID) {
		err := c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			return share(ctx, s, id, func(shares *records.Shares) bool { return shares.Acknowledge(shareID) })
		})
		if store.Spared(err) != nil {
			return nil, err
		}
	}
	return c.withContent(ctx, en)
}

// checkBundle returns the error of a package whose small files, which every operation reads, cannot be read from the store: as that of a
// package that the store does not have, or vnfm.ErrUnopened where a key is lost. Any other error is for those who need them.
func (c *Catalog) checkBundle(ctx context.Context, s *seal.Store, en *records.Entry[packageRecord]) error {
	if en.Value.Bundle == "" {
		return nil
	}
	files := newContent(s, &c.contents, nil, en.Value.Bundle, "")
	files.ctx = ctx
	_, err := files.bundled()
	switch {
	case errors.Is(err, vnfm.ErrUnopened), errors.As(err, new(*seal.WrongKeyError)):
		return fmt.Errorf("opening the content of VNF package %q: %w", en.Rec.ID, err)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrCorrupt):
		return records.NotFound(store.KindPackage, en.Rec.ID)
	}
	return nil
}

// ReadAhead reads, in the background, the small files of a package of a store that is far away.
func (c *Catalog) ReadAhead(ctx context.Context, s *seal.Store, id string) {
	if store.IsFar(s) && id != "" {
		go func() {
			if en, err := getPackage(ctx, s, id); err == nil {
				c.readAhead(ctx, s, en)
			}
		}()
	}
}

// readAhead reads the small files of a package of a store that is far away, which are rendered next.
func (c *Catalog) readAhead(ctx context.Context, s *seal.Store, en *records.Entry[packageRecord]) {
	if !store.IsFar(s) || en.Value.Bundle == "" {
		return
	}
	files := newContent(s, &c.contents, nil, en.Value.Bundle, "")
	files.ctx = context.WithoutCancel(ctx)
	go func() { _, _ = files.bundled() }()
}

// ReleasePackage implements vnfm.Manager.
func (c *Catalog) ReleasePackage(ctx context.Context, id, shareID string) error {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return err
	}
	return c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		use := c.cfg.PackageUse(id)
		// In most cases an instance has it: the rest is not read.
		use = use[:min(1, len(use))]
		store.ReadAhead(ctx, s, append(use, store.Wanted{Kind: store.KindPackage, ID: id})...)
		en, err := getPackage(ctx, s, id)
		if errors.Is(err, vnfm.ErrNotFound) {
			// The contents of one that was being removed may be left.
			return removePackage(ctx, s, id)
		}
		if err != nil {
			return err
		}
		en.Value.Shares.Release(shareID)
		if len(en.Value.Shares) == 0 {
			used, err := c.cfg.PackageInUse(ctx, s, id)
			if err != nil {
				return err
			}
			if !used {
				return removePackage(ctx, s, id)
			}
			en.Value.Superseded = true
		}
		return en.Update(ctx, s)
	})
}

// CheckPackage returns a *vnfm.NotFoundError for a package that is gone, or going.
func CheckPackage(ctx context.Context, s store.Store, id string) error {
	_, err := getPackage(ctx, s, id)
	return err
}

// getPackage reads the record of a package that is not being removed.
func getPackage(ctx context.Context, s store.Store, id string) (*records.Entry[packageRecord], error) {
	rec, err := records.Read(ctx, s, store.KindPackage, id)
	if err != nil {
		return nil, err
	}
	return packageIn(rec)
}

// packageIn decodes the record of a package that is not being removed.
func packageIn(rec *store.Record) (*records.Entry[packageRecord], error) {
	en, err := records.Decode[packageRecord](*rec)
	if err == nil && en.Value.Removing {
		return nil, records.NotFound(store.KindPackage, rec.ID)
	}
	return en, err
}

// share changes the shares of a package that a resource has, which therefore stays when its last instance leaves it. A package
// that is gone, or going, is a *vnfm.NotFoundError. It is called under Config.WithReferences.
func share(ctx context.Context, s store.Store, id string, change func(*records.Shares) bool) error {
	en, err := getPackage(ctx, s, id)
	if err != nil {
		return err
	}
	if !change(&en.Value.Shares) && !en.Value.Superseded {
		return nil
	}
	en.Value.Superseded = false
	return en.Update(ctx, s)
}

// UnusedWanted is what RemoveUnused reads first.
func UnusedWanted() []store.Wanted {
	return []store.Wanted{{Kind: store.KindPackage}, {Kind: store.KindChart}}
}

// RemoveUnused removes what RemoveUnusedPackages and RemoveUnusedCharts do.
func (c *Catalog) RemoveUnused(ctx context.Context, s store.Store) error {
	// It is under the lease of the references, and under no other one.
	both, removing := errgroup.WithContext(store.Free(ctx))
	both.Go(func() error { return c.RemoveUnusedPackages(removing, s) })
	both.Go(func() error { return c.RemoveUnusedCharts(removing, s) })
	return both.Wait()
}

// RemoveUnusedPackages removes the packages that no resource has any more and no instance uses.
// It looks at all of them: an operation that was interrupted may have left one
// before the operation that comes to an end.
func (c *Catalog) RemoveUnusedPackages(ctx context.Context, s store.Store) error {
	all, err := records.List[packageRecord](ctx, s, store.Query{Kind: store.KindPackage})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(en *records.Entry[packageRecord]) bool { return !en.Value.Superseded })
	if len(all) == 0 {
		return nil
	}
	return c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		for _, en := range all {
			wanted := c.cfg.PackageUse(en.Rec.ID)
			if len(wanted) > 1 {
				// It will be removed.
				wanted = append(wanted, UnusedWanted()...)
			}
			store.ReadAhead(ctx, s, append(wanted, store.Wanted{Kind: store.KindPackage, ID: en.Rec.ID})...)
			// Another process may have onboarded it again since.
			now, err := records.Get[packageRecord](ctx, s, store.KindPackage, en.Rec.ID)
			if errors.Is(err, vnfm.ErrNotFound) || (err == nil && !now.Value.Superseded) {
				continue
			}
			if err != nil {
				return err
			}
			used, err := c.cfg.PackageInUse(ctx, s, en.Rec.ID)
			if err != nil {
				return err
			}
			if used {
				continue
			}
			if err := removePackage(ctx, s, en.Rec.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// removePackage marks the record, deletes the contents that no other package needs
// and then the record: after a kill in between the next removal goes on. It is called under
// Config.WithReferences.
func removePackage(ctx context.Context, s store.Store, id string) error {
	en, err := records.Get[packageRecord](ctx, s, store.KindPackage, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	// Under the lease nobody writes a record that names contents.
	needed, err := neededContents(ctx, s, id)
	if err != nil {
		return fmt.Errorf("removing VNF package %q: %w", en.Value.Name, err)
	}
	en.Value.Removing = true
	lookAtUnneeded(ctx, s, needed, en.Value.contents())
	if err := en.Update(ctx, s); err != nil {
		return fmt.Errorf("removing VNF package %q: %w", en.Value.Name, err)
	}
	if err := deleteUnneeded(ctx, s, needed, en.Value.contents()...); err != nil {
		return fmt.Errorf("removing VNF package %q: %w", en.Value.Name, err)
	}
	if err := s.Delete(ctx, store.KindPackage, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of VNF package %q: %w", en.Value.Name, err)
	}
	return nil
}
