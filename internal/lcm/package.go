package lcm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
		err := e.setSuperseded(ctx, s, r.pkg.ID, false)
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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	slots := make(chan struct{}, e.cfg.Concurrency)
	for _, f := range rest {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		workers.Go(func() {
			defer func() { <-slots }()
			if err := putFile(ctx, s, p, f); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return bundle, digests, context.Cause(ctx)
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
	users, err := e.packageUsers(ctx, s, id)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return &vnfm.InUseError{Kind: nouns[store.KindPackage], ID: id, By: instanceNames(users)}
	}
	return e.removePackage(ctx, s, id, func(*packageRecord) bool { return true })
}

// ReleasePackage implements vnfm.Manager.
func (e *Engine) ReleasePackage(ctx context.Context, id string) error {
	err := e.DeletePackage(ctx, id)
	var inUse *vnfm.InUseError
	if !errors.As(err, &inUse) {
		return err
	}
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	err = e.setSuperseded(ctx, s, id, true)
	if errors.Is(err, vnfm.ErrNotFound) {
		// Its last instance has left it, and somebody has removed it, since.
		return nil
	}
	return err
}

func (e *Engine) packageUsers(ctx context.Context, s store.Store, id string) ([]*entry[vnfm.Instance], error) {
	all, err := list[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
	if err != nil {
		return nil, err
	}
	var users []*entry[vnfm.Instance]
	for _, en := range all {
		if en.value.PackageID == id {
			users = append(users, en)
		}
	}
	return users, nil
}

// setSuperseded notes whether a package goes as soon as its last instance has left it. A
// package that is gone, or going, is a *vnfm.NotFoundError.
func (e *Engine) setSuperseded(ctx context.Context, s store.Store, id string, superseded bool) error {
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

// leavePackages removes the superseded packages that no instance runs any more.
// It looks at all of them: an operation that was interrupted may have left one
// before the operation that comes to an end.
func (e *Engine) leavePackages(ctx context.Context, s store.Store) error {
	all, err := list[packageRecord](ctx, s, store.Query{Kind: store.KindPackage})
	if err != nil {
		return err
	}
	for _, en := range all {
		if !en.value.Superseded {
			continue
		}
		users, err := e.packageUsers(ctx, s, en.rec.ID)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			continue
		}
		// Another process may have onboarded it again since.
		if err := e.removePackage(ctx, s, en.rec.ID, func(r *packageRecord) bool { return r.Superseded }); err != nil {
			return err
		}
	}
	return nil
}

// removePackage marks the record, deletes the contents that no other package needs
// and then the record: after a kill in between the next removal goes on. It does nothing
// when the record, as it is then, is not one that goes.
func (e *Engine) removePackage(ctx context.Context, s store.Store, id string, goes func(*packageRecord) bool) error {
	err := e.withContents(ctx, s, func(ctx context.Context) error {
		en, err := get[packageRecord](ctx, s, store.KindPackage, id)
		if errors.Is(err, vnfm.ErrNotFound) {
			return nil
		}
		if err != nil || !goes(&en.value) {
			return err
		}
		en.value.Removing = true
		if err := en.update(ctx, s); err != nil {
			return err
		}
		if err := deleteContents(ctx, s, en.value.contents()...); err != nil {
			return err
		}
		if err := s.Delete(ctx, store.KindPackage, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("removing its record: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing VNF package %q: %w", id, err)
	}
	return nil
}
