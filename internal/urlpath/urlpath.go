// Package urlpath checks the paths of requests that names have become a part of.
package urlpath

import (
	"fmt"
	"net/url"
	"strings"
)

// Check returns an error when a path, which is escaped and begins with a slash, has a
// segment that is empty, "." or "..", or has a slash in it, also an escaped one. Proxies
// normalise paths (RFC 3986, section 6.2.2.3) and decode escaped slashes, some of them more
// than once in a row: such a request would reach another object, or all of a collection.
func Check(path string) error {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return fmt.Errorf("the path %q does not begin with a slash", path)
	}
	if strings.ContainsAny(path, "?#") {
		return fmt.Errorf("the path %q has a character that ends a path: nothing was sent; correct the name", path)
	}
	for segment := range strings.SplitSeq(rest, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return fmt.Errorf("%q is not the path of a URL: %w", path, err)
		}
		for again := true; again; {
			if plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, `/\`) {
				return fmt.Errorf("the path %q has a part that is empty, \".\" or \"..\", or has a slash in it, which cannot be the name of an object: nothing was sent; correct the name", path)
			}
			once, err := url.PathUnescape(plain)
			again = err == nil && once != plain
			plain = once
		}
	}
	return nil
}
