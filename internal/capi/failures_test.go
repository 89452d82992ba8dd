package capi

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// with returns a copy of an object with a field.
func with(obj *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	out := obj.DeepCopy()
	if err := unstructured.SetNestedField(out.Object, value, path...); err != nil {
		panic(err)
	}
	return out
}

// conditions is the status of an object with one condition.
func conditions(kind, status, reason, message string) []any {
	return []any{map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-26T12:00:00Z"}}
}

// TestFailureOf: terminal failures of Cluster API Provider OpenStack, and of providers with a failure reason.
func TestFailureOf(t *testing.T) {
	t.Parallel()
	m := machine("a-1", "a", "v1.34.0")
	server := &unstructured.Unstructured{Object: map[string]any{"kind": "OpenStackServer", "metadata": map[string]any{"name": "a-1", "namespace": "core"}}}
	ready := func(reason, message string) *unstructured.Unstructured {
		return with(server, conditions("InstanceReady", "False", reason, message), "status", "conditions")
	}
	for name, c := range map[string]struct {
		machine, server *unstructured.Unstructured
		want            string
	}{
		"nothing":                   {m, server, ""},
		"in ERROR":                  {m, with(ready("InstanceStateError", ""), "ERROR", "status", "instanceState"), "its server is in ERROR"},
		"refused by Nova":           {m, with(ready("InstanceCreateFailed", "Quota\n exceeded"), "ERROR", "status", "instanceState"), "Quota exceeded"},
		"deleted in the OpenStack":  {m, ready("InstanceDeleted", ""), "its server was deleted in the OpenStack"},
		"image that cannot be made": {m, ready("DependencyFailed", "Image core/x failed"), "Image core/x failed"},
		"Nova does not answer":      {m, ready("OpenStackError", "503"), ""},
		"being built":               {m, with(server, "BUILD", "status", "instanceState"), ""},
		"other provider":            {with(m, "no such size", "status", "failureMessage"), nil, "no such size"},
		"other provider, present":   {with(m, "InvalidConfiguration", "status", "deprecated", "v1beta1", "failureReason"), nil, "InvalidConfiguration"},
		"is deleted":                {with(with(m, "x", "status", "failureMessage"), "2026-11-26T12:00:00Z", "metadata", "deletionTimestamp"), nil, ""},
		"is replaced by a roll-out": {with(with(m, "x", "status", "failureMessage"), conditions("UpToDate", "False", "NotUpToDate", ""), "status", "conditions"), nil, ""},
		"works in spite of it":      {with(with(m, "x", "status", "failureMessage"), conditions("Available", "True", "Available", ""), "status", "conditions"), nil, ""},
	} {
		f := failureOf(c.machine, c.server)
		if c.want == "" {
			assert.Nil(t, f, name)
			continue
		}
		require.NotNil(t, f, name)
		assert.Equal(t, c.want, f.words, name)
	}
}

// TestReplacedAt: the startup timeout of a MachineHealthCheck counts from the time at which the machine could start.
func TestReplacedAt(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 26, 11, 0, 0, 0, time.UTC)
	m := with(machine("a-1", "a", "v1.34.0"), made.Format(time.RFC3339), "metadata", "creationTimestamp")
	check := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	own := &unstructured.Unstructured{Object: map[string]any{}}
	since := with(own, conditions("InfrastructureReady", "True", "Ready", ""), "status", "conditions")
	for name, c := range map[string]struct {
		check, own *unstructured.Unstructured
		want       time.Duration
	}{
		"usual":                     {check, own, 10 * time.Minute},
		"of version v1beta2":        {with(check, int64(1800), "spec", "checks", "nodeStartupTimeoutSeconds"), own, 30 * time.Minute},
		"of version v1beta1":        {with(check, "5m0s", "spec", "nodeStartupTimeout"), own, 5 * time.Minute},
		"after the infrastructure":  {check, since, 70 * time.Minute},
		"never":                     {with(check, int64(0), "spec", "checks", "nodeStartupTimeoutSeconds"), own, 0},
		"no Cluster":                {check, nil, 10 * time.Minute},
		"infrastructure is not yet": {check, with(own, conditions("InfrastructureReady", "False", "NotReady", ""), "status", "conditions"), 10 * time.Minute},
	} {
		at, ok := replacedAt(c.check, c.own, m)
		assert.Equal(t, c.want != 0, ok, name)
		if ok {
			assert.Equal(t, made.Add(c.want), at.UTC(), name)
		}
	}
}

// TestReplacedSoon: an operation waits for a MachineHealthCheck only if that replaces the machine, soon and within the time limit.
func TestReplacedSoon(t *testing.T) {
	t.Parallel()
	const none = "no MachineHealthCheck replaces it"
	now := time.Now()
	m := with(machine("a-1", "a", "v1.34.0"), now.Add(-time.Minute).UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
	check := func(timeout int64, group string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "MachineHealthCheck", "metadata": map[string]any{"name": "edge-a", "namespace": "core"}, "spec": map[string]any{
				"selector": map[string]any{"matchLabels": map[string]any{labelNodeGroup: group}}, "checks": map[string]any{"nodeStartupTimeoutSeconds": timeout},
			},
		}}
	}
	const name = "MachineHealthCheck core/edge-a"
	for title, c := range map[string]struct {
		machine, check *unstructured.Unstructured
		limit          time.Duration
		want           string
		soon           bool
	}{
		"soon":                  {m, check(300, "a"), time.Hour, "waiting for " + name + " to have it replaced", true},
		"after the limit":       {m, check(300, "a"), time.Minute, name + " replaces it at ", false},
		"late":                  {m, check(1800, "a"), time.Hour, name + " replaces it at ", false},
		"never":                 {m, check(0, "a"), time.Hour, name + " replaces no machine that does not become a node", false},
		"of others":             {m, check(300, "b"), time.Hour, none, false},
		"was a node":            {with(m, "n", "status", "nodeRef", "name"), check(1800, "a"), time.Hour, "waiting for " + name + " to have it replaced", true},
		"is not allowed to":     {m, with(check(300, "a"), conditions("RemediationAllowed", "False", "TooManyUnhealthy", "too many"), "status", "conditions"), time.Hour, name + " does not replace it: too many", false},
		"its owner cannot":      {with(m, conditions("OwnerRemediated", "False", "CannotBeRemediated", "one replica"), "status", "conditions"), check(300, "a"), time.Hour, none + ": one replica", false},
		"is left out of checks": {with(m, map[string]any{annotationSkip: ""}, "metadata", "annotations"), check(300, "a"), time.Hour, none + ": it has the annotation " + annotationSkip, false},
	} {
		said, soon := replacedSoon([]unstructured.Unstructured{*c.check}, nil, c.machine, now.Add(c.limit))
		assert.Equal(t, c.soon, soon, title)
		assert.Contains(t, said, c.want, title)
	}
}

// TestClusterFailure: a failure of the infrastructure is final, unless Cluster API Provider OpenStack retries.
func TestClusterFailure(t *testing.T) {
	t.Parallel()
	own := &unstructured.Unstructured{Object: map[string]any{}}
	for name, c := range map[string]struct {
		own  *unstructured.Unstructured
		want string
	}{
		"none":      {nil, ""},
		"nothing":   {own, ""},
		"for good":  {with(own, "Failure detected from referenced resource x/v1, Kind=XCluster with name \"a\": no such region", "status", "deprecated", "v1beta1", "failureMessage"), "Failure detected from referenced resource x/v1, Kind=XCluster with name \"a\": no such region"},
		"OpenStack": {with(own, "Failure detected from referenced resource x/v1, Kind=OpenStackCluster with name \"a\": no such subnet", "status", "deprecated", "v1beta1", "failureMessage"), ""},
	} {
		assert.Equal(t, c.want, clusterFailure(c.own), name)
	}
}

// TestFailedError: the error names the failed machine, the object that reports the failure, and the remedy.
func TestFailedError(t *testing.T) {
	t.Parallel()
	c := &cluster{name: "edge", namespace: "core", spec: &vnfm.ClusterSpec{}}
	f := &machineFailure{machine: machine("a-1", "a", "v1.34.0"), object: "OpenStackServer core/a-1", words: "its server is in ERROR", server: "4711"}
	err := &failedError{cluster: c, failure: f, check: "no MachineHealthCheck replaces it"}
	require.EqualError(t, err, `Machine core/a-1 of node group "a" has failed for good: OpenStackServer core/a-1: its server is in ERROR (server 4711); `+
		`"openstack server show 4711" tells the fault; no MachineHealthCheck replaces it. `+
		`Correct the cause, for example the quota, the flavor or the availability zone, and apply again: the next apply replaces the machine`)
	err.fault, f.machine = "No valid host was found.", with(machine("a-2", "", "v1.34.0"), "node-2", "status", "nodeRef", "name")
	require.EqualError(t, err, `Machine core/a-2 of the control plane has failed for good: OpenStackServer core/a-1: its server is in ERROR (server 4711); `+
		`Nova says: No valid host was found; no MachineHealthCheck replaces it. `+
		`Correct the cause, for example the quota, the flavor or the availability zone, and apply again: a heal that names the machine replaces it`)
}

// TestFailureWatchEnds: a watch that has not begun, or has ended, does not hide the error of the operation.
func TestFailureWatchEnds(t *testing.T) {
	t.Parallel()
	c := &cluster{spec: &vnfm.ClusterSpec{Paused: new(true)}}
	ctx, w := c.watchFailures(t.Context(), nil)
	w.begin(ctx, allMachines)
	require.NoError(t, w.reason(nil))
	require.ErrorIs(t, w.reason(context.DeadlineExceeded), context.DeadlineExceeded)
}
