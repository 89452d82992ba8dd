package capi

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// replacementPatience is how long an operation waits for a MachineHealthCheck to replace a failed machine.
const replacementPatience = 10 * time.Minute

// annotationSkip exempts a machine from MachineHealthChecks.
const annotationSkip = clusterv1.MachineSkipRemediationAnnotation

// replacement reports whether a MachineHealthCheck replaces a failed machine within replacementPatience and the time limit of the
// operation. The string is the reason for users.
func (c *cluster) replacement(ctx context.Context, own, m *unstructured.Unstructured) (said string, soon bool, err error) {
	checks, err := c.listOf(ctx, "MachineHealthCheck")
	if err != nil {
		return "", false, err
	}
	limit, limited := ctx.Deadline()
	if !limited {
		limit = time.Now().Add(replacementPatience)
	}
	said, soon = replacedSoon(checks, own, m, limit)
	return said, soon, nil
}

// replacedSoon is replacement, given the checks of the cluster and the time limit.
func replacedSoon(checks []unstructured.Unstructured, own, m *unstructured.Unstructured, limit time.Time) (said string, soon bool) {
	said = "no MachineHealthCheck replaces it"
	remediated := readiness.ClusterCondition(m, clusterv1.MachineOwnerRemediatedCondition)
	if remediated.Reason == "CannotBeRemediated" || remediated.Reason == "RemediationFailed" {
		return said + ": " + readiness.OneLine(remediated.Message), false
	}
	if _, skipped := m.GetAnnotations()[annotationSkip]; skipped {
		return said + ": it has the annotation " + annotationSkip, false
	}
	for i := range checks {
		check := &checks[i]
		if !selectsMachine(check, m) {
			continue
		}
		name := objectName(check)
		if allowed := readiness.ClusterCondition(check, clusterv1.MachineHealthCheckRemediationAllowedCondition); allowed.Status == "False" {
			said = fmt.Sprintf("%s does not replace it: %s", name, readiness.OneLine(allowed.Message))
			continue
		}
		at, ok := replacedAt(check, own, m)
		switch {
		case !ok:
			said = name + " replaces no machine that does not become a node"
		case at.After(limit):
			said = fmt.Sprintf("%s replaces it at %s, after the time limit of the operation", name, at.UTC().Format(time.RFC3339))
		case time.Until(at) > replacementPatience:
			said = fmt.Sprintf("%s replaces it at %s, which is too late to wait for", name, at.UTC().Format(time.RFC3339))
		default:
			return fmt.Sprintf("waiting for %s to have it replaced", name), true
		}
	}
	return said, false
}

// replacedAt returns the time at which a MachineHealthCheck has a failed machine replaced; false if never. The startup timeout of the
// node counts from the creation of the machine, or from the time at which infrastructure and control plane became ready, if that is
// later. A machine that had a node is replaced after a timeout of the conditions of the node; the result is the present time.
func replacedAt(check, own, m *unstructured.Unstructured) (time.Time, bool) {
	if hasNode(m) {
		return time.Now(), true
	}
	limit := nodeStartupTimeout(check)
	if limit == 0 {
		return time.Time{}, false
	}
	from := m.GetCreationTimestamp().Time
	for _, kind := range []string{clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.ClusterInfrastructureReadyCondition} {
		if at := readiness.ClusterConditionTrueSince(own, kind); at.After(from) {
			from = at
		}
	}
	return from.Add(limit), true
}

// nodeStartupTimeout is the time that a MachineHealthCheck gives a machine to have a node; zero if unlimited.
func nodeStartupTimeout(check *unstructured.Unstructured) time.Duration {
	const usual = 10 * time.Minute
	if seconds, found, _ := unstructured.NestedInt64(check.Object, "spec", "checks", "nodeStartupTimeoutSeconds"); found {
		return time.Duration(seconds) * time.Second
	}
	if limit, err := time.ParseDuration(text(check, "spec", "nodeStartupTimeout")); err == nil {
		return limit
	}
	return usual
}
