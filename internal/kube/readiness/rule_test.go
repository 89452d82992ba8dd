package readiness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func TestRule(t *testing.T) {
	t.Parallel()
	path := func(path, value string) *Rule {
		r, err := PathRule(path, value)
		require.NoError(t, err)
		return r
	}
	const ready = "ready"
	for _, tc := range []struct {
		name   string
		rule   *Rule
		object string
		// want is ready, or what the rule says of an object that is not.
		want string
	}{
		{"condition", ConditionRule("Ready", ""), `{status: {conditions: [{type: Ready, status: "True"}]}}`, ready},
		{"condition false", ConditionRule("Ready", ""), `{status: {conditions: [{type: Ready, status: "False", reason: NoRadio, message: the radio is off}]}}`, "NoRadio: condition Ready is False: the radio is off"},
		{"condition without message", ConditionRule("Ready", ""), `{status: {conditions: [{type: Ready, status: Unknown}]}}`, "NotReady: condition Ready is Unknown"},
		{"condition missing", ConditionRule("Ready", ""), `{status: {conditions: [{type: Synced, status: "True"}]}}`, "NotReady: condition Ready is not set"},
		{"no status", ConditionRule("Ready", ""), `{spec: {}}`, "NotReady: condition Ready is not set"},
		{"negative condition", ConditionRule("Degraded", "False"), `{status: {conditions: [{type: Degraded, status: "False"}]}}`, ready},
		{"negative condition true", ConditionRule("Degraded", "False"), `{status: {conditions: [{type: Degraded, status: "True", message: half}]}}`, "NotReady: condition Degraded is True, wanted False: half"},
		{"condition of an older generation", ConditionRule("Ready", ""), `{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}]}}`, "LatestGenerationNotObserved: the controller has not seen generation 2 yet"},
		{"status of an older generation", path("{.status.phase}", "Running"), `{metadata: {generation: 2}, status: {observedGeneration: 1, phase: Running}}`, "LatestGenerationNotObserved: the controller has not seen generation 2 yet"},
		{"status of this generation", path("{.status.phase}", "Running"), `{metadata: {generation: 2}, status: {observedGeneration: 2, phase: Running}}`, ready},
		{"metadata of a paused object", path("{.metadata.name}", "edge"), `{metadata: {name: edge, generation: 2}, status: {observedGeneration: 1}}`, ready},
		{"field", path("{.status.phase}", "Running"), `{status: {phase: Running}}`, ready},
		{"field otherwise", path("{.status.phase}", "Running"), `{status: {phase: Pending}}`, "NotReady: .status.phase is Pending, wanted Running"},
		{"field empty", path("{.status.phase}", "Running"), `{status: {phase: ""}}`, "NotReady: .status.phase is empty, wanted Running"},
		{"field missing", path("{.status.phase}", "Running"), `{status: {}}`, "NotReady: .status.phase is not set, wanted Running"},
		{"field below nothing", path("{.status.phase}", "Running"), `{spec: {}}`, "NotReady: .status.phase is not set, wanted Running"},
		{"number", path("{.status.ready}", "3"), `{status: {ready: 3}}`, ready},
		{"boolean", path("{.status.ready}", "true"), `{status: {ready: false}}`, "NotReady: .status.ready is false, wanted true"},
		{"all of a list", path("{.status.nodes[*].state}", "up"), `{status: {nodes: [{state: up}, {state: down}]}}`, "NotReady: .status.nodes[*].state is down, wanted up"},
		{"filter", path(`{.status.links[?(@.name=="n2")].state}`, "up"), `{status: {links: [{name: n1, state: down}, {name: n2, state: up}]}}`, ready},
		{"of another form", path("{.status[0]}", "up"), `{status: {phase: up}}`, "cannot be read, wanted up"},
		{"being deleted", path("{.status.phase}", "Running"), `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Running}}`, "Terminating: the object is being deleted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obj := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(tc.object), &obj.Object))
			obj.SetAPIVersion("example.org/v1")
			obj.SetKind("Cell")
			v := Of(obj, tc.rule)
			assert.False(t, v.Failed, "failed for good: %s", v.Message)
			got := v.Reason + ": " + v.Message
			if v.Ready {
				got = ready
			}
			require.Contains(t, got, tc.want)
			assert.Equal(t, (tc.want == ready), v.Ready)
		})
	}
}

func TestPathRuleRefusals(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                              "must be in braces",
		".status.phase":                 "must be in braces",
		"{}":                            "must be one path to a field",
		"{.status.phase":                "must be in braces",
		"{.status[}":                    "cannot be read",
		"{.status.a}{.status.b}":        "must be one path to a field",
		"{.status.a} and {.status.b}":   "must be one path to a field",
		"{range .status.a[*]}{.b}{end}": "must be one path to a field",
		`{"text"}`:                      "must be one path to a field",
		"{3}":                           "must be one path to a field",
	} {
		_, err := PathRule(path, "x")
		require.ErrorContains(t, err, want, "%s", path)
	}
}
