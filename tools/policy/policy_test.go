// Package policy tests the policies of examples/policy with OPA's own library, over plans as terraform show -json writes them.
package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
)

// evaluate returns the messages of the rules of a package for a plan at a time, in order.
func evaluate(t *testing.T, name, plan string, at time.Time) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", plan+".json")) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		t.Fatal(err)
	}
	result, err := rego.New(
		rego.Query("data.vnf."+name+".deny"), rego.Load([]string{filepath.Join("..", "..", "examples", "policy")}, nil), rego.Input(input), rego.Time(at),
	).Eval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range result {
		messages, ok := r.Expressions[0].Value.([]any)
		if !ok {
			t.Fatalf("%s is %v", name, r.Expressions[0].Value)
		}
		for _, m := range messages {
			text, ok := m.(string)
			if !ok {
				t.Fatalf("%v is no text", m)
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	monday, night := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)
	const hours, signed = "working_hours", "signed_packages"
	for name, tc := range map[string]struct {
		policy, plan string
		at           time.Time
		want         []string
	}{
		"upgrade that rolls":        {hours, "upgrade", monday, []string{"vnf_instance.core5g: smf is 1 replaced, interrupted between 7:00 and 19:00 UTC"}},
		"upgrade in the night":      {policy: hours, plan: "upgrade", at: night},
		"upgrade on a Sunday":       {policy: hours, plan: "upgrade", at: monday.AddDate(0, 0, -1)},
		"destroy":                   {hours, "destroy", monday, []string{"vnf_instance.core5g is destroyed between 7:00 and 19:00 UTC, and amf with it", "vnf_instance.core5g is destroyed between 7:00 and 19:00 UTC, and upf with it"}},
		"destroy in the night":      {policy: hours, plan: "destroy", at: night},
		"operations that are later": {hours, "unknown", monday, []string{"vnf_instance.core5g: its operations are known only after the apply"}},
		"package without signature": {signed, "upgrade", monday, []string{`vnf_package.core5g: signature must be "require", with the signers in trust`}},
		"signed package":            {policy: signed, plan: "unknown", at: monday},
		"destroyed package":         {policy: signed, plan: "destroy", at: monday},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := evaluate(t, tc.policy, tc.plan, tc.at); !slices.Equal(tc.want, got) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
