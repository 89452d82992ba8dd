package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// orderedManifest is a StatefulSet that rolls out pod by pod and keeps data.
const orderedManifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  podManagementPolicy: OrderedReady
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: db, image: "example.org/db:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`

// orderedSet returns the StatefulSet with another image, whose pods fail in a given way.
func orderedSet(image, fail, policy string) map[string]string {
	text := strings.Replace(orderedManifest, "db:1", "db:"+image, 1)
	if fail != "" {
		text = strings.Replace(text, "annotations: {}", "annotations: {lab.vnf/fail: "+fail+"}", 1)
	}
	return map[string]string{"db.yaml": strings.Replace(text, "OrderedReady", policy, 1)}
}

// applyFailing applies until pods exist that do not become ready.
func (l *lab) applyFailing(reason string) {
	l.t.Helper()
	stop, cancel := context.WithCancel(l.ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- l.driver.Apply(stop, l.target, l.recorder) }()
	l.eventually("a pod fails", func() bool {
		return strings.Contains(l.kubectl("get", "pods", "-l", "app=db", "-o", "jsonpath={.items[*].status}"), reason)
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		l.t.Fatalf("an apply of pods that fail: %v", err)
	}
}

// images fails unless all pods are ready and have the image.
func (l *lab) images(count int, image string) {
	l.t.Helper()
	got := l.kubectl("get", "pods", "-l", "app=db", "-o", `jsonpath={range .items[*]}{.spec.containers[0].image} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)
	if want := strings.Repeat("example.org/db:"+image+" True\n", count); strings.TrimSpace(got) != strings.TrimSpace(want) {
		l.t.Errorf("pods are %q, want %q", got, want)
	}
}

// TestLabForcedRollback recovers StatefulSets from failed updates, by the former and by a corrected template, and from a failed
// creation. Claims stay.
func TestLabForcedRollback(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"OrderedReady", "Parallel"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, orderedSet("0", "image", policy), map[string]int{"db": 2})
			l.applyFailing("ImagePullBackOff")
			claim := l.kubectl("get", "pvc", "data-db-0", "-o", "jsonpath={.metadata.uid}")
			l.setFiles("1", orderedSet("1", "", policy))
			l.apply()
			l.images(2, "1")
			assert.Equal(t, claim, l.kubectl("get", "pvc", "data-db-0", "-o", "jsonpath={.metadata.uid}"), "the claim")

			l.setFiles("2", orderedSet("2", "image", policy))
			l.applyFailing("ImagePullBackOff")
			l.setFiles("1", orderedSet("1", "", policy))
			good := l.pods("db")
			l.apply()
			l.images(2, "1")
			after := l.pods("db")
			assert.Equal(t, 1, kept(good, after), "the rollback made %v of %v", after, good)

			l.setFiles("3", orderedSet("3", "image", policy))
			l.applyFailing("ImagePullBackOff")
			l.setFiles("4", orderedSet("4", "", policy))
			found, err := l.driver.DryRun(l.ctx, l.target, []string{"apps/v1/StatefulSet db"})
			if err != nil || !strings.Contains(fmt.Sprint(found), "would block the roll-out") || !strings.Contains(fmt.Sprint(found), "db-1") {
				t.Errorf("the dry run says %v, %v", found, err)
			}
			l.apply()
			l.images(2, "4")
			l.inSync()
		})
	}
}

// TestLabHealBroken heals a StatefulSet whose pods are not ready, by VDU and as a whole. The heal waits for the new pods and not for
// the pods to be replaced.
func TestLabHealBroken(t *testing.T) {
	t.Parallel()
	for name, heal := range map[string]vnfm.HealSpec{"VDU": {ID: "op-1", VDUIDs: []string{"db"}}, "whole": {ID: "op-1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, orderedSet("1", "", "OrderedReady"), map[string]int{"db": 2})
			l.apply()
			// The existing pods fail, their successors do not.
			l.kubectl("annotate", "pods", "-l", "app=db", "lab.vnf/fail=never-ready")
			l.eventually("the pods are not ready", func() bool {
				return !strings.Contains(l.kubectl("get", "pods", "-l", "app=db", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`), "True")
			})
			before := l.pods("db")
			ctx, cancel := context.WithTimeout(l.ctx, time.Minute)
			defer cancel()
			l.recorder.begin(heal.ID)
			require.NoError(t, l.driver.Heal(ctx, l.target, heal, l.recorder))
			l.images(2, "1")
			after := l.pods("db")
			assert.Zero(t, kept(before, after), "%v became %v", before, after)
		})
	}
}
