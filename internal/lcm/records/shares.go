package records

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
)

// Shares are what the resources that have an object together hold of it. The object goes when nobody has one any more.
//
// Terraform may not know of a share: the process that took it was killed before it answered. Its resource is then created again,
// with another share. So each share says who took it until a read has acknowledged it, and one that a dead process took in the
// same directory goes when another is taken.
type Shares []Share

// Share is what one resource holds of an object.
type Share struct {
	ID string `json:"id"`
	// Holder and Place are the process that took it and where that ran; empty once the share is acknowledged.
	Holder string `json:"holder,omitempty"`
	Place  string `json:"place,omitempty"`
}

// place tells the machines, directories and workspaces from each other in which configurations are applied: Terraform starts
// providers in the directory of the root module.
func place() string {
	host, _ := os.Hostname()
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(host + "\x00" + dir + "\x00" + workspace()))
	return hex.EncodeToString(sum[:8])
}

// workspace is Terraform's selected workspace; empty for the one that a directory begins with.
func workspace() string {
	if name := os.Getenv("TF_WORKSPACE"); name != "" {
		return name
	}
	name, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("TF_DATA_DIR"), ".terraform"), "environment")) //nolint:gosec // Terraform reads it there
	if err != nil || string(name) == "default" {
		return ""
	}
	return string(name)
}

// Take adds a share that no read has acknowledged, and reports whether that changed something. An empty id is none.
func (s *Shares) Take(id string) bool {
	if id == "" || s.has(id) {
		return false
	}
	*s = append(s.Others(""), Share{ID: id, Holder: process.Name(), Place: place()})
	return true
}

// Others are the shares but that of an id, and but those that a dead process took in this directory and nobody has acknowledged.
func (s *Shares) Others(id string) Shares {
	here := place()
	return slices.DeleteFunc(slices.Clone(*s), func(other Share) bool {
		return other.ID == id || (other.Holder != "" && here != "" && other.Place == here && process.Dead(other.Holder))
	})
}

// Acknowledge notes that Terraform knows a share, adds one that is missing, and reports whether that changed something.
func (s *Shares) Acknowledge(id string) bool {
	if id == "" || slices.Contains(*s, Share{ID: id}) {
		return false
	}
	s.Release(id)
	*s = append(*s, Share{ID: id})
	return true
}

// Release gives a share up.
func (s *Shares) Release(id string) {
	*s = slices.DeleteFunc(slices.Clone(*s), func(other Share) bool { return other.ID == id })
}

func (s *Shares) has(id string) bool {
	return slices.ContainsFunc(*s, func(other Share) bool { return other.ID == id })
}
