package registry

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// referenceForm is a reference to an image: an optional registry, a path in lower case, an
// optional tag and an optional digest.
var referenceForm = lazyregexp.New(`^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// checkReference says what is wrong with a reference.
func checkReference(ref string) error {
	if strings.Contains(ref, "://") {
		return fmt.Errorf("%q is a URL: an image has no scheme, for example %s", ref, defaultImage)
	}
	if !referenceForm.MatchString(ref) {
		return fmt.Errorf("%q does not name an image: the form is [registry[:port]/]path[:tag][@digest] in lower case, for example %s", ref, defaultImage)
	}
	return nil
}

// canonical writes out what Docker understands of itself and the other engines do not: the
// registry docker.io, its folder library and the tag latest.
func canonical(ref string) string {
	if rest, ok := strings.CutPrefix(ref, "index.docker.io/"); ok {
		ref = "docker.io/" + rest
	}
	first, _, hasSlash := strings.Cut(ref, "/")
	switch {
	case !hasSlash:
		ref = "docker.io/library/" + ref
	case first == "docker.io" && strings.Count(ref, "/") == 1:
		ref = "docker.io/library/" + strings.TrimPrefix(ref, "docker.io/")
	case first != "localhost" && !strings.ContainsAny(first, ".:"):
		ref = "docker.io/" + ref
	}
	if name := ref[strings.LastIndex(ref, "/"):]; !strings.ContainsAny(name, ":@") {
		ref += ":latest"
	}
	return ref
}
