package install

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// checkReference rejects names that no image can have.
func checkReference(ref string) error {
	if strings.Contains(ref, "://") {
		return fmt.Errorf("%q is a URL: an image has no scheme, for example %s", ref, defaultImage)
	}
	if _, err := reference.ParseNormalizedNamed(ref); err != nil {
		return fmt.Errorf("%q does not name an image: the form is [registry[:port]/]path[:tag][@digest] in lower case, for example %s: %w", ref, defaultImage, err)
	}
	return nil
}

// canonical returns the full form of a reference, which engines other than Docker need: with docker.io, its folder library and the tag
// latest. Invalid names are returned unchanged; engines reject them.
func canonical(ref string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ref
	}
	return reference.TagNameOnly(named).String()
}
