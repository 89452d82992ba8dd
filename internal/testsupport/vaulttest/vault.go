// Package vaulttest is a vault in memory, which does what a real one cannot be made to do:
// it stops at a chosen request, before or after it has done what it was asked.
package vaulttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Vault implements seal.Vault. Its fields are changed between requests only.
type Vault struct {
	// NameOf and Texts are the secrets by their ids, Reads how often each was read.
	NameOf map[string]string
	Texts  map[string]vnfm.Secret
	Reads  map[string]int
	// Budget, when set, is that of the process that asks.
	Budget *Budget
	// Outage, when set, is the answer to everything.
	Outage error

	mu   sync.Mutex
	made int
}

// New returns an empty vault.
func New() *Vault {
	return &Vault{NameOf: map[string]string{}, Texts: map[string]vnfm.Secret{}, Reads: map[string]int{}}
}

// Budget is how many steps a process does until it is killed. A nil one lets it live.
type Budget struct {
	mu   sync.Mutex
	left int
}

// Steps returns a budget of n steps.
func Steps(n int) *Budget { return &Budget{left: n} }

// ErrKilled is what a process hears that was killed.
var ErrKilled = errors.New("killed")

// Spend takes a step.
func (b *Budget) Spend() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	if b.left < 0 {
		return ErrKilled
	}
	return nil
}

// String implements seal.Vault.
func (v *Vault) String() string { return "the vault of the test" }

func (v *Vault) enter() (func(), error) {
	v.mu.Lock()
	if v.Outage != nil {
		return v.mu.Unlock, v.Outage
	}
	return v.mu.Unlock, v.Budget.Spend()
}

// Find implements seal.Vault.
func (v *Vault) Find(_ context.Context, name string) ([]string, error) {
	leave, err := v.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	var ids []string
	for id, each := range v.NameOf {
		if each == name {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Read implements seal.Vault.
func (v *Vault) Read(_ context.Context, id string) (vnfm.Secret, bool, error) {
	leave, err := v.enter()
	defer leave()
	if err != nil {
		return "", false, err
	}
	v.Reads[id]++
	text, ok := v.Texts[id]
	return text, ok, nil
}

// Create implements seal.Vault. Its answer may be lost.
func (v *Vault) Create(_ context.Context, name string, text vnfm.Secret) (string, error) {
	leave, err := v.enter()
	defer leave()
	if err != nil {
		return "", err
	}
	v.made++
	id := fmt.Sprintf("secret-%03d", v.made)
	v.NameOf[id], v.Texts[id] = name, text
	return id, v.Budget.Spend()
}

// Delete implements seal.Vault. Its answer may be lost.
func (v *Vault) Delete(_ context.Context, id string) error {
	leave, err := v.enter()
	defer leave()
	if err != nil {
		return err
	}
	delete(v.NameOf, id)
	delete(v.Texts, id)
	return v.Budget.Spend()
}

// Names are the names of what is in the vault.
func (v *Vault) Names() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, name := range v.NameOf {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
