package catalog

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Package implements vnfm.Manager.
func (c *Catalog) Package(ctx context.Context, id string) (*vnfm.Package, error) {
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := records.Read(ctx, s, store.KindPackage, id)
	if err != nil {
		return nil, err
	}
	sum := sumOf(rec)
	if p := c.openedOf(sum); p != nil {
		return p, nil
	}
	en, err := packageIn(rec)
	if err != nil {
		return nil, err
	}
	p, err := c.withContent(ctx, en)
	if err == nil {
		c.noteOpened(sum, p)
	}
	return p, err
}

// maxOpened is how many packages of the store are kept open.
const maxOpened = 4

// openedPackage is a package with the digest of its record. The package is not changed.
type openedPackage struct {
	record [sha256.Size]byte
	pkg    *vnfm.Package
}

// sumOf is a digest of all that a package is made of.
func sumOf(rec *store.Record) [sha256.Size]byte {
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(rec.ID), rec.Data, rec.Sealed} {
		_, _ = fmt.Fprintf(sum, "%d ", len(part))
		_, _ = sum.Write(part)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// openedOf is the package of a record that this process has opened; nil for another one.
func (c *Catalog) openedOf(record [sha256.Size]byte) *vnfm.Package {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	for _, o := range c.opened {
		if o.record == record {
			return o.pkg
		}
	}
	return nil
}

func (c *Catalog) noteOpened(record [sha256.Size]byte, p *vnfm.Package) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if len(c.opened) == maxOpened {
		c.opened = slices.Delete(c.opened, 0, 1)
	}
	c.opened = append(c.opened, openedPackage{record, p})
}
