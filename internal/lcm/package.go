package lcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func (e *Engine) withContent(ctx context.Context, en *entry[packageRecord]) (*vnfm.Package, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if err := openWorkloads(ctx, s, en); err != nil {
		return nil, err
	}
	p := en.value.Package
	p.Content = newContent(s, &e.contents, p.Files, en.value.Bundle)
	return &p, nil
}

// OnboardPackage implements vnfm.Manager.
func (e *Engine) OnboardPackage(ctx context.Context, spec vnfm.PackageSpec, wantID string) (*vnfm.Package, vnfm.Problems, error) {
	e.applying.Store(true)
	r, err := e.readSource(ctx, spec)
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
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r.stored {
		err := e.withReferences(ctx, s, func(ctx context.Context) error { return setSuperseded(ctx, s, r.pkg.ID, false) })
		if errors.Is(err, vnfm.ErrNotFound) {
			// Another process has removed it since: the source is read.
			return e.OnboardPackage(ctx, spec, wantID)
		}
		return r.pkg, r.problems, err
	}
	en := &entry[packageRecord]{rec: store.Record{Kind: store.KindPackage, ID: r.pkg.ID, Owner: spec.Name}}
	en.value = packageRecord{Package: *r.pkg, Origin: r.origin}
	en.value.OnboardedAt = time.Now().UTC()
	if err := sealWorkloads(ctx, s, en); err != nil {
		return nil, nil, err
	}
	err = e.keepContents(ctx, s, func() (digests []string, err error) {
		en.value.Bundle, digests, err = e.putFiles(ctx, s, r.pkg)
		return digests, err
	}, func(ctx context.Context) error {
		err := en.create(ctx, s)
		if errors.Is(err, store.ErrExists) {
			en, err = e.refreshOrigin(ctx, s, en)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	p, err := e.withContent(ctx, en)
	if err != nil {
		return nil, nil, err
	}
	e.remember(p)
	return p, r.problems, nil
}

// refreshOrigin notes in the record of a content that is onboarded already where
// it was read from this time.
func (e *Engine) refreshOrigin(ctx context.Context, s store.Store, fresh *entry[packageRecord]) (*entry[packageRecord], error) {
	en, err := get[packageRecord](ctx, s, store.KindPackage, fresh.rec.ID)
	if err != nil {
		return nil, err
	}
	onboarded := en.value.OnboardedAt
	en.value, en.rec.Sealed = fresh.value, fresh.rec.Sealed
	en.value.OnboardedAt = onboarded
	return en, en.update(ctx, s)
}

// putFiles keeps all files of a package: the small ones in a bundle, of which it
// returns the digest, and the others several at a time, since each waits for the disk.
// It returns the digests of the contents that this makes.
func (e *Engine) putFiles(ctx context.Context, s store.Store, p *vnfm.Package) (bundle string, digests []string, err error) {
	bundle, rest, err := putBundle(ctx, s, p)
	if err != nil {
		return "", nil, err
	}
	if bundle != "" {
		digests = append(digests, bundle)
	}
	for _, f := range rest {
		digests = append(digests, f.Digest)
	}
	group, work := errgroup.WithContext(ctx)
	group.SetLimit(e.cfg.Concurrency)
	for _, f := range rest {
		if work.Err() != nil {
			break
		}
		group.Go(func() error { return putFile(work, s, p, f) })
	}
	err = group.Wait()
	return bundle, digests, cmp.Or(context.Cause(ctx), err)
}

func putFile(ctx context.Context, s store.Store, p *vnfm.Package, f vnfm.PackageFile) error {
	file, err := p.Content.Open(f.Path)
	if err != nil {
		return fmt.Errorf("reading %s of package %q: %w", f.Path, p.Name, err)
	}
	defer func() { _ = file.Close() }()
	if err := s.PutBlob(ctx, f.Digest, file); err != nil {
		return fmt.Errorf("keeping %s of package %q: %w", f.Path, p.Name, err)
	}
	return nil
}

// Package implements vnfm.Manager.
func (e *Engine) Package(ctx context.Context, id string) (*vnfm.Package, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := get[packageRecord](ctx, s, store.KindPackage, id)
	if err != nil {
		return nil, err
	}
	if en.value.Removing {
		return nil, &vnfm.NotFoundError{Kind: nouns[store.KindPackage], ID: id}
	}
	return e.withContent(ctx, en)
}

// PackageByName implements vnfm.Manager: the version that was onboarded last.
func (e *Engine) PackageByName(ctx context.Context, name string) (*vnfm.Package, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list[packageRecord](ctx, s, store.Query{Kind: store.KindPackage, Owner: name})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(en *entry[packageRecord]) bool { return en.value.Removing })
	if len(all) == 0 {
		return nil, &vnfm.NotFoundError{Kind: nouns[store.KindPackage], ID: name}
	}
	last := all[len(all)-1]
	for _, en := range all {
		if last.value.Superseded || (!en.value.Superseded && en.value.OnboardedAt.After(last.value.OnboardedAt)) {
			last = en
		}
	}
	return e.withContent(ctx, last)
}

// packageOf finds a package in this process or in the store.
func (e *Engine) packageOf(ctx context.Context, id string) (*vnfm.Package, error) {
	if p := e.remembered(id); p != nil {
		return p, nil
	}
	return e.Package(ctx, id)
}

// DeletePackage implements vnfm.Manager.
func (e *Engine) DeletePackage(ctx context.Context, id string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	return e.withReferences(ctx, s, func(ctx context.Context) error {
		users, err := packageUsers(ctx, s, id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return &vnfm.InUseError{Kind: nouns[store.KindPackage], ID: id, By: users}
		}
		return removePackage(ctx, s, id)
	})
}

// ReleasePackage implements vnfm.Manager.
func (e *Engine) ReleasePackage(ctx context.Context, id string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	return e.withReferences(ctx, s, func(ctx context.Context) error {
		users, err := packageUsers(ctx, s, id)
		if err != nil {
			return err
		}
		if len(users) == 0 {
			return removePackage(ctx, s, id)
		}
		err = setSuperseded(ctx, s, id, true)
		if errors.Is(err, vnfm.ErrNotFound) {
			return nil
		}
		return err
	})
}

// setSuperseded notes whether a package goes as soon as its last instance has left it. A
// package that is gone, or going, is a *vnfm.NotFoundError. It is called under
// withReferences.
func setSuperseded(ctx context.Context, s store.Store, id string, superseded bool) error {
	en, err := get[packageRecord](ctx, s, store.KindPackage, id)
	if err == nil && en.value.Removing {
		err = &vnfm.NotFoundError{Kind: nouns[store.KindPackage], ID: id}
	}
	if err != nil || en.value.Superseded == superseded {
		return err
	}
	en.value.Superseded = superseded
	return en.update(ctx, s)
}

// leavePackages removes the superseded packages that nobody needs any more.
// It looks at all of them: an operation that was interrupted may have left one
// before the operation that comes to an end.
func (e *Engine) leavePackages(ctx context.Context, s store.Store) error {
	all, err := list[packageRecord](ctx, s, store.Query{Kind: store.KindPackage})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(en *entry[packageRecord]) bool { return !en.value.Superseded })
	if len(all) == 0 {
		return nil
	}
	return e.withReferences(ctx, s, func(ctx context.Context) error {
		for _, en := range all {
			// Another process may have onboarded it again since.
			now, err := get[packageRecord](ctx, s, store.KindPackage, en.rec.ID)
			if errors.Is(err, vnfm.ErrNotFound) || (err == nil && !now.value.Superseded) {
				continue
			}
			if err != nil {
				return err
			}
			users, err := packageUsers(ctx, s, en.rec.ID)
			if err != nil {
				return err
			}
			if len(users) > 0 {
				continue
			}
			if err := removePackage(ctx, s, en.rec.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// removePackage marks the record, deletes the contents that no other package needs
// and then the record: after a kill in between the next removal goes on. It is called under
// withReferences.
func removePackage(ctx context.Context, s store.Store, id string) error {
	en, err := get[packageRecord](ctx, s, store.KindPackage, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	en.value.Removing = true
	if err := en.update(ctx, s); err != nil {
		return fmt.Errorf("removing VNF package %q: %w", id, err)
	}
	if err := deleteContents(ctx, s, en.value.contents()...); err != nil {
		return fmt.Errorf("removing VNF package %q: %w", id, err)
	}
	if err := s.Delete(ctx, store.KindPackage, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of VNF package %q: %w", id, err)
	}
	return nil
}
