package helm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// maxReleaseName is Helm's own limit: charts append to the name of the release.
const maxReleaseName = 53

var (
	releaseName  = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	notInRelease = lazyregexp.New(`[^a-z0-9]+`)
)

// ValidReleaseName reports whether Helm takes the name for a release.
func ValidReleaseName(name string) bool {
	return len(name) <= maxReleaseName && releaseName.MatchString(name)
}

// ReleaseName makes a name for a release of the name of an instance. One that
// cannot be kept as it is ends in a digest, so that two instances never share it.
// It has no dots, which not all names of objects that charts make of it can have.
func ReleaseName(instance string) string {
	if ValidReleaseName(instance) && !strings.Contains(instance, ".") {
		return instance
	}
	const digits = 8
	sum := sha256.Sum256([]byte(instance))
	name := strings.Trim(notInRelease.ReplaceAllString(strings.ToLower(instance), "-"), "-")
	if most := maxReleaseName - digits - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	name = cmp.Or(name, "vnf")
	return name + "-" + hex.EncodeToString(sum[:])[:digits]
}
