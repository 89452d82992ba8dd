package kubernetes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	onDeleteManifests = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  updateStrategy: {type: OnDelete}
  template:
    metadata: {labels: {app: db}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: db, image: example.org/db}]}
`
	barePodManifest = `
apiVersion: v1
kind: Pod
metadata: {name: probe, labels: {app: probe}}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: probe, image: example.org/probe}]}
`
)

// newHealLab creates an instance with a VDU for each way in which pods are replaced.
func newHealLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, map[string]string{"core.yaml": coreManifests + "---" + onDeleteManifests + "---" + barePodManifest},
		map[string]int{"amf": 2, "db": 2, "probe": 1})
	l.apply()
	return l
}

// pods returns the UIDs of the pods of an app by name.
func (l *lab) pods(app string) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	text := l.kubectl("get", "pods", "-l", "app="+app, "-o", `jsonpath={range .items[*]}{.metadata.name}={.metadata.uid}{"\n"}{end}`)
	for _, line := range strings.Fields(text) {
		name, uid, _ := strings.Cut(line, "=")
		out[name] = uid
	}
	return out
}

// kept counts the pods in both maps.
func kept(before, after map[string]string) int {
	n := 0
	for _, uid := range before {
		for _, other := range after {
			if uid == other {
				n++
			}
		}
	}
	return n
}

func (l *lab) heal(h vnfm.HealSpec) {
	l.t.Helper()
	l.recorder.begin(h.ID)
	if err := l.driver.Heal(l.ctx, l.target, h, l.recorder); err != nil {
		l.t.Fatalf("heal: %v", err)
	}
}

// TestLabHealVNFC replaces one pod of each kind of workload and leaves the others.
func TestLabHealVNFC(t *testing.T) {
	t.Parallel()
	l := newHealLab(t)
	for app, count := range map[string]int{"amf": 2, "db": 2, "probe": 1} {
		before := l.pods(app)
		chosen := ""
		for name := range before {
			chosen = name
		}
		l.heal(vnfm.HealSpec{ID: "op-1", VNFCIDs: []string{app + "-" + chosen, app + "-gone-before"}})
		after := l.pods(app)
		if len(after) != count || kept(before, after) != count-1 || after[chosen] == before[chosen] {
			t.Errorf("%s: %v became %v", app, before, after)
		}
		ready := l.kubectl("get", "pods", "-l", "app="+app, "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
		assert.Equal(t, count, strings.Count(ready, "True"), "%s: not waited for: %s", app, ready)
	}
	l.inSync()
}

// TestLabHealContinued resumes heals by VNFC and by VDU that have already replaced all pods. No pod is replaced twice. Another heal of
// the same VNFCs or VDUs replaces them again.
func TestLabHealContinued(t *testing.T) {
	t.Parallel()
	l := newHealLab(t)
	for app, count := range map[string]int{"amf": 2, "db": 2, "probe": 1} {
		chosen := slices.Min(slices.Collect(maps.Keys(l.pods(app))))
		named := vnfm.HealSpec{ID: app + "-named", VNFCIDs: []string{app + "-" + chosen}}
		for _, h := range []vnfm.HealSpec{named, {ID: app + "-all", VDUIDs: []string{app}}} {
			before := l.pods(app)
			l.heal(h)
			l.eventually("old pods are gone", func() bool { return len(l.pods(app)) == count })
			after := l.pods(app)
			l.heal(h)
			if now := l.pods(app); kept(before, after) == len(before) || kept(after, now) != count {
				t.Errorf("%s: %v became %v, and then %v", h.ID, before, after, now)
			}
		}
	}
	before := l.pods("db")
	l.heal(vnfm.HealSpec{ID: "again", VNFCIDs: []string{"db-db-0"}})
	after := l.pods("db")
	assert.Equal(t, 1, kept(before, after), "another heal: %v became %v", before, after)
}

// TestLabHealVDU restarts workloads with their update strategy, once per operation. No later apply removes the mark.
func TestLabHealVDU(t *testing.T) {
	t.Parallel()
	l := newHealLab(t)
	apps := []string{"amf", "db", "probe"}
	before := map[string]map[string]string{}
	for _, app := range apps {
		before[app] = l.pods(app)
	}
	l.heal(vnfm.HealSpec{ID: "op-1", VDUIDs: apps})
	after := map[string]map[string]string{}
	for _, app := range apps {
		after[app] = l.pods(app)
		if n := kept(before[app], after[app]); n != 0 || len(after[app]) < len(before[app]) {
			t.Errorf("%s: %v became %v", app, before[app], after[app])
		}
	}
	l.inSync()
	l.eventually("old pods of amf are gone", func() bool { return len(l.pods("amf")) == 2 })
	after["amf"] = l.pods("amf")
	l.heal(vnfm.HealSpec{ID: "op-1", VDUIDs: []string{"amf"}})
	l.setFiles("2", map[string]string{"core.yaml": strings.Replace(coreManifests, "labels: {}, ", "labels: {a: b}, ", 1) + "---" + onDeleteManifests + "---" + barePodManifest})
	l.apply()
	now := l.pods("amf")
	assert.Equal(t, 2, kept(after["amf"], now), "restarted again: %v became %v", after["amf"], now)
}

// TestLabHealWhole applies missing objects and replaces all pods.
func TestLabHealWhole(t *testing.T) {
	t.Parallel()
	l := newHealLab(t)
	l.kubectl("delete", "configmap", "amf-config")
	before := l.pods("amf")
	l.heal(vnfm.HealSpec{ID: "op-1"})
	l.inSync()
	assert.Zero(t, kept(before, l.pods("amf")))
}

// TestLabHealNotReady: the error names the missing pods and the cause. The heal can be resumed after the cause is removed.
func TestLabHealNotReady(t *testing.T) {
	t.Parallel()
	l := newHealLab(t)
	l.env.Quota(t, l.namespace, "none", "pods", 0)
	var chosen string
	for name := range l.pods("amf") {
		chosen = name
	}
	request := vnfm.HealSpec{ID: "op-1", VNFCIDs: []string{"amf-" + chosen}}
	l.recorder.begin(request.ID)
	var err error
	var unready *kube.NotReadyError
	// On a slow machine the time may end before the old pod is deleted. The next attempt resumes then.
	for patience := 4 * time.Second; !errors.As(err, &unready) && patience < 3*time.Minute; patience *= 2 {
		ctx, cancel := context.WithTimeout(l.ctx, patience)
		err = l.driver.Heal(ctx, l.target, request, l.recorder)
		cancel()
	}
	require.ErrorAs(t, err, &unready)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for _, want := range []string{"1 new pods not ready", "Deployment", "amf", "exceeded quota"} {
		require.ErrorContains(t, err, want, "the error does not say")
	}
	// The resumed heal waits for the new pod, which the first attempt never saw.
	l.kubectl("delete", "quota", "none")
	l.heal(request)
	ready := l.kubectl("get", "pods", "-l", "app=amf", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
	assert.Equal(t, 2, strings.Count(ready, "True"), "not waited for: %s", ready)
}
