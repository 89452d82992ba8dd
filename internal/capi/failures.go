package capi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The infrastructure of a machine can fail for good: its provider does nothing more with it, and nothing but another machine
// helps. An operation that waits for such a machine ends at once, unless a MachineHealthCheck is about to replace it. The next
// operation replaces it.

// kindOpenStackMachine is the kind of machines whose provider says on another object that they have failed.
const kindOpenStackMachine = "OpenStackMachine"

// machineFailure is a machine that has failed for good.
type machineFailure struct {
	machine *unstructured.Unstructured
	// object is the one that says so, and words what it says.
	object, words string
	// server is the id of its server in Nova, whose own words are elsewhere; empty for none.
	server string
}

// failureOf is nil for a machine that may still become ready by itself, or that goes anyway.
func failureOf(m, server *unstructured.Unstructured) *machineFailure {
	if m.GetDeletionTimestamp() != nil || readiness.ClusterCondition(m, clusterv1.MachineUpToDateCondition).Status == "False" ||
		readiness.ClusterCondition(m, clusterv1.AvailableCondition).Status == "True" {
		return nil
	}
	if server != nil && server.GetDeletionTimestamp() == nil {
		if f := serverFailure(server); f != nil {
			f.machine = m
			return f
		}
	}
	reason, message := failureReason(m)
	if reason == "" && message == "" {
		return nil
	}
	return &machineFailure{machine: m, object: objectName(m), words: readiness.OneLine(cmp.Or(message, reason))}
}

// failureReason is what an object of Cluster API says of a failure that it cannot recover from, in either version.
func failureReason(obj *unstructured.Unstructured) (reason, message string) {
	for _, at := range [][]string{{"status"}, {"status", "deprecated", "v1beta1"}} {
		reason = cmp.Or(reason, text(obj, append(slices.Clone(at), "failureReason")...))
		message = cmp.Or(message, text(obj, append(slices.Clone(at), "failureMessage")...))
	}
	return reason, message
}

// finalReasons are those of InstanceReady after which Cluster API Provider OpenStack leaves a server alone. One that Nova or Cinder
// has refused, or that went into ERROR, has its state ERROR as well. An image, flavor or network that is not found and a port that
// Neutron refuses are tried again.
var finalReasons = []string{"InstanceDeleted", "InstanceNotFound", "DependencyFailed"}

// serverFailure is what an OpenStackServer says of a failure for good; nil for none.
func serverFailure(server *unstructured.Unstructured) *machineFailure {
	state := text(server, "status", "instanceState")
	ready := readiness.ClusterCondition(server, "InstanceReady")
	if state != "ERROR" && (ready.Status != "False" || !slices.Contains(finalReasons, ready.Reason)) {
		return nil
	}
	f := &machineFailure{object: objectName(server), server: text(server, "status", "instanceID")}
	switch {
	case ready.Message != "":
		f.words = readiness.OneLine(ready.Message)
	case ready.Reason == "InstanceDeleted":
		f.words = "its server was deleted in the OpenStack"
	default:
		f.words = "its server is in ERROR"
	}
	return f
}

// hasNode reports whether a machine has ever become a node.
func hasNode(m *unstructured.Unstructured) bool { return text(m, "status", "nodeRef", "name") != "" }

// failedError ends an operation whose machine has failed for good.
type failedError struct {
	cluster *cluster
	failure *machineFailure
	// fault is what Nova says of the server.
	fault string
	// check says why the operation does not wait for a MachineHealthCheck.
	check string
}

func (*failedError) isFinal() {}

func (e *failedError) Error() string {
	f := e.failure
	who := "the control plane"
	if name := e.cluster.groupOfMachine(f.machine); name != groupControlPlane {
		who = fmt.Sprintf("node group %q", name)
	}
	out := fmt.Sprintf("%s of %s has failed for good: %s: %s", objectName(f.machine), who, f.object, f.words)
	if f.server != "" {
		out += fmt.Sprintf(" (server %s)", f.server)
	}
	if e.fault != "" {
		out += "; Nova says: " + strings.TrimSuffix(e.fault, ".")
	} else if f.server != "" {
		out += fmt.Sprintf("; \"openstack server show %s\" tells the fault", f.server)
	}
	out += "; " + e.check + ". Correct the cause, for example the quota, the flavor or the availability zone, and apply again: "
	if !hasNode(f.machine) {
		return out + "the next apply replaces the machine"
	}
	return out + "a heal that names the machine replaces it"
}

// clusterFailedError ends an operation whose cluster has failed for good.
type clusterFailedError struct{ object, words string }

func (*clusterFailedError) isFinal() {}

func (e *clusterFailedError) Error() string {
	return fmt.Sprintf("%s has failed for good: %s", e.object, e.words)
}

// failureWatch ends an operation when a machine fails for good.
type failureWatch struct {
	cluster *cluster
	r       vnfm.Recorder
	// cancel ends the operation, and cause is what has ended it.
	cancel  context.CancelCauseFunc
	cause   func() error
	running sync.WaitGroup
	// stop ends the present turn.
	stop context.CancelFunc
	// heals is set when the operation replaces machines that have failed after they were nodes.
	heals bool

	// begun is set once the machines have been seen that had failed before, known are those; failed is what had made the cluster
	// fail, and waits the last thing that was said of a machine.
	begun  bool
	known  map[types.UID]bool
	failed string
	waits  string
}

// watchFailures returns the context of the operation, and a watch that does not watch yet.
func (c *cluster) watchFailures(ctx context.Context, r vnfm.Recorder) (context.Context, *failureWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &failureWatch{
		cluster: c, r: r, cancel: cancel, cause: func() error { return context.Cause(ctx) }, known: map[types.UID]bool{}, stop: func() {},
	}
}

// The machines that a watch is about, as what is added to the selector of those of the cluster.
const (
	allMachines          = ""
	controlPlaneMachines = "," + labelControl
)

// begin watches these machines. Those that have failed before and never were nodes are replaced:
// nothing else would, and what they are made of may be another thing by now.
func (w *failureWatch) begin(ctx context.Context, which string) {
	w.end()
	if w.cluster.spec.IsPaused() {
		return
	}
	w.begun = false
	ctx, stop := context.WithCancel(ctx)
	w.stop = stop
	w.running.Go(func() {
		err := w.follow(ctx, which)
		// Without the rights to see these objects the operation waits until its limit.
		if isFinal(err) {
			w.cancel(err)
		}
	})
}

// step is begin as a step of an apply.
func (w *failureWatch) step(which string) func(context.Context) error {
	return func(ctx context.Context) error {
		w.begin(ctx, which)
		return nil
	}
}

// end ends the turn of the watch, so that nothing is cancelled after it.
func (w *failureWatch) end() {
	w.stop()
	w.running.Wait()
}

// reason ends the watch, and returns what it has ended the operation for, or the error of the operation.
func (w *failureWatch) reason(err error) error {
	w.end()
	defer w.cancel(nil)
	if cause := w.cause(); err != nil && isFinal(cause) {
		return cause
	}
	return err
}

// isFinal reports whether an error says that there is nothing to wait for.
func isFinal(err error) bool {
	var final interface{ isFinal() }
	return errors.As(err, &final)
}

// follow looks at the machines at each change, and at their servers once one is made of them.
func (w *failureWatch) follow(ctx context.Context, which string) error {
	c := w.cluster
	machines, err := c.ofCluster(ctx, "Machine")
	if err != nil {
		return err
	}
	machines.Options.LabelSelector += which
	own, err := c.kind(ctx, group, "Cluster")
	if err != nil {
		return err
	}
	selections := []kube.Selection{selectOne(kube.Ref{Resource: own, Namespace: c.namespace, Name: c.name}), machines}
	withServers := false
	for {
		err := c.client.Until(ctx, selections, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
			if !withServers && slices.ContainsFunc(slices.Collect(maps.Values(objects[1])), isOnOpenStack) {
				withServers = true
				return true, nil
			}
			var servers map[string]*unstructured.Unstructured
			if len(objects) > 2 {
				servers = objects[2]
			}
			if err := w.look(ctx, objects[0][c.name], objects[1], servers); err != nil {
				return false, err
			}
			// A heal replaces them.
			return !w.heals && len(finalKubelets(objects[1], false)) > 0, nil
		})
		if err != nil {
			return err
		}
		if withServers && len(selections) == 2 {
			servers, err := c.kind(ctx, forms.GroupInfrastructure, "OpenStackServer")
			if err != nil {
				return err
			}
			selections = append(selections, kube.Selection{Resource: servers, Namespace: c.namespace, Options: kube.ListOptions{LabelSelector: labelCluster + "=" + c.name}})
			continue
		}
		if err := c.awaitKubelets(ctx, machines, false); err != nil {
			return err
		}
	}
}

func isOnOpenStack(m *unstructured.Unstructured) bool {
	return text(m, "spec", "infrastructureRef", "kind") == kindOpenStackMachine
}

// look returns an error for what has failed and is not replaced soon.
func (w *failureWatch) look(ctx context.Context, own *unstructured.Unstructured, machines, servers map[string]*unstructured.Unstructured) error {
	if err := w.cluster.blocked(ctx, own); err != nil {
		return err
	}
	failure := clusterFailure(own)
	if !w.begun {
		w.failed, w.begun = failure, true
		if err := w.replaceFailed(ctx, machines, servers); err != nil {
			return err
		}
	}
	if failure != "" && failure != w.failed {
		return &clusterFailedError{object: objectName(own), words: failure}
	}
	for _, name := range forms.SortedKeys(machines) {
		f := failureOf(machines[name], serverOf(machines[name], servers))
		if f == nil || w.known[f.machine.GetUID()] {
			continue
		}
		check, soon, err := w.cluster.replacement(ctx, own, f.machine)
		if err != nil {
			return err
		}
		err = &failedError{cluster: w.cluster, failure: f, check: check}
		if !soon {
			return err
		}
		if said := fmt.Sprintf("%s has failed (%s: %s); %s", objectName(f.machine), f.object, f.words, check); said != w.waits {
			w.waits = said
			w.r.Progress(ctx, said)
		}
	}
	return nil
}

// clusterFailure is what has made a Cluster fail for good, as far as it says; empty for nothing. An OpenStackCluster that names
// what is not there is tried again.
func clusterFailure(own *unstructured.Unstructured) string {
	if own == nil {
		return ""
	}
	reason, message := failureReason(own)
	if strings.Contains(message, "Kind=OpenStackCluster") {
		return ""
	}
	return readiness.OneLine(cmp.Or(message, reason))
}

// serverOf is the OpenStackServer of a machine among some; nil for none.
func serverOf(m *unstructured.Unstructured, servers map[string]*unstructured.Unstructured) *unstructured.Unstructured {
	if !isOnOpenStack(m) {
		return nil
	}
	return servers[text(m, "spec", "infrastructureRef", "name")]
}

// replaceFailed has the owners of machines replace those that have failed and never were nodes.
func (w *failureWatch) replaceFailed(ctx context.Context, machines, servers map[string]*unstructured.Unstructured) error {
	c := w.cluster
	for _, name := range forms.SortedKeys(machines) {
		f := failureOf(machines[name], serverOf(machines[name], servers))
		switch {
		case f == nil:
		case !hasNode(f.machine):
			resource, err := c.kind(ctx, group, "Machine")
			if err != nil {
				return err
			}
			w.known[f.machine.GetUID()] = true
			w.r.Progress(ctx, fmt.Sprintf("replacing %s, which has failed: %s: %s", objectName(f.machine), f.object, f.words))
			err = c.client.Delete(ctx, kube.Ref{Resource: resource, Namespace: c.namespace, Name: name}, kube.DeleteOptions{UID: f.machine.GetUID()})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		case w.heals:
			w.known[f.machine.GetUID()] = true
		}
	}
	return nil
}

// addFault has a failed machine tell what Nova says of its server.
func (o *overlay) addFault(ctx context.Context, t *vnfm.Target, err error) error {
	var failed *failedError
	if errors.As(err, &failed) && failed.failure.server != "" {
		failed.fault = o.checker().ServerFault(ctx, t, failed.failure.server)
	}
	return err
}
