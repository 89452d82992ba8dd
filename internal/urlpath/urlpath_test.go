package urlpath

import "testing"

func TestCheck(t *testing.T) {
	for path, want := range map[string]bool{
		"/version":                        true,
		"/api/v1/namespaces/a/pods/b":     true,
		"/stacks/a%2Fb/c":                 true,
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
