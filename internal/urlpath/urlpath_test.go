package urlpath

import "testing"

func TestCheck(t *testing.T) {
	for path, want := range map[string]bool{
		"/version":                        true,
		"/api/v1/namespaces/a/pods/b":     true,
		"/images/a%3Fb%23c":               true,
		"/images/50%25":                   true,
		"/clusterroles/system:node":       true,
		"/stacks/a%2Fb/c":                 false,
		"/stacks/a%5Cb/c":                 false,
		"/images/%252e%252e":              false,
		"/images/%25252e":                 false,
		"/images/a%252Fb":                 false,
		"/images/a?b":                     false,
		"/images/a#b":                     false,
		"/images/..a":                     true,
		"/images/...":                     true,
		"/images/a%20b":                   true,
		"":                                false,
		"/":                               false,
		"images/a":                        false,
		"/images/":                        false,
		"/images//file":                   false,
		"/images/.":                       false,
		"/images/..":                      false,
		"/images/%2e":                     false,
		"/images/%2E%2e/file":             false,
		"/images/a%2F..":                  false,
		"/images/..%2Fa":                  false,
		"/images/%":                       false,
		"/api/v1/namespaces/../pods/b":    false,
		"/api/v1/namespaces/a/pods/./log": false,
	} {
		if err := Check(path); (err == nil) != want {
			t.Errorf("Check(%q) = %v, want success %t", path, err, want)
		}
	}
}
