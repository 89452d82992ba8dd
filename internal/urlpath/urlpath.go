// Package urlpath checks the paths of requests that names have become a part of.
package urlpath

import (
	"fmt"
	"net/url"
	"strings"
)

// Check returns an error when a path, which is escaped and begins with a slash, has a
// segment that is empty, "." or "..", also an escaped one. Proxies normalise paths (RFC
// 3986, section 6.2.2.3): such a request would reach another object, or all of a collection.
func Check(path string) error {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return fmt.Errorf("%q is no path of a URL: %w", path, err)
	}
	rest, ok := strings.CutPrefix(plain, "/")
	if !ok {
		return fmt.Errorf("the path %q does not begin with a slash", path)
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("the path %q has a part that is empty, \".\" or \"..\", which is no name of an object: nothing was sent; put the name right", path)
		}
	}
	return nil
}
