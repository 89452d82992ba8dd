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

// The infrastructure of a machine can fail for good: its provider takes no further action, and only another machine helps. An
// operation that waits for such a machine ends at once, unless a MachineHealthCheck is about to replace it. The next operation
// replaces the machine.

// kindOpenStackMachine is the kind of machines whose provider reports failures on another object, the OpenStackServer.
const kindOpenStackMachine = "OpenStackMachine"

// machineFailure is a machine that has failed for good.
type machineFailure struct {
	machine *unstructured.Unstructured
	// object is the object that reports the failure, and words its message.
	object, words string
	// server is the id of its server in Nova, to read the fault; empty if there is no server.
	server string
}

// failureOf returns nil for a machine that is available, that may still become ready by itself, or that is deleted or replaced anyway.
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

// failureReason returns reason and message of a terminal failure from an object of Cluster API, in either version.
func failureReason(obj *unstructured.Unstructured) (reason, message string) {
	for _, at := range [][]string{{"status"}, {"status", "deprecated", "v1beta1"}} {
		reason = cmp.Or(reason, text(obj, append(slices.Clone(at), "failureReason")...))
		message = cmp.Or(message, text(obj, append(slices.Clone(at), "failureMessage")...))
	}
	return reason, message
}

// finalReasons are the reasons of InstanceReady after which Cluster API Provider OpenStack leaves a server alone. A server that
// Nova or Cinder has rejected, or that has failed later, has the state ERROR instead. A missing image, flavor or network and a port
// that Neutron rejects are retried.
var finalReasons = []string{"InstanceDeleted", "InstanceNotFound", "DependencyFailed"}

// serverFailure returns the terminal failure that an OpenStackServer reports; nil if there is none.
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

// hasNode reports whether a machine has ever had a node.
func hasNode(m *unstructured.Unstructured) bool { return text(m, "status", "nodeRef", "name") != "" }

// failedError ends an operation whose machine has failed for good.
type failedError struct {
	cluster *cluster
	failure *machineFailure
	// fault is the fault message of the server in Nova.
	fault string
	// check is the reason why the operation does not wait for a MachineHealthCheck.
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
	// cancel ends the operation, and cause returns the error that has ended it.
	cancel  context.CancelCauseFunc
	cause   func() error
	running sync.WaitGroup
	// stop ends the current watch.
	stop context.CancelFunc
	// heals is set for a heal, which also replaces failed machines that had nodes.
	heals bool

	// begun is set after the first look, which collects earlier failures: known are machines whose failure is ignored because they
	// are being replaced, failed is the failure of the Cluster. waits is the last progress message about a machine.
	begun  bool
	known  map[types.UID]bool
	failed string
	waits  string
}

// watchFailures returns the context of the operation, and a watch that begin starts.
func (c *cluster) watchFailures(ctx context.Context, r vnfm.Recorder) (context.Context, *failureWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &failureWatch{
		cluster: c, r: r, cancel: cancel, cause: func() error { return context.Cause(ctx) }, known: map[types.UID]bool{}, stop: func() {},
	}
}

// The machines of a watch, as a suffix of the label selector for all machines of the cluster.
const (
	allMachines          = ""
	controlPlaneMachines = "," + labelControl
)

// begin watches the selected machines. Machines that have failed earlier and never had a node are replaced:
// nothing else replaces them, and their description may have been corrected since.
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
		// Other errors, such as missing rights to read these objects, leave the operation waiting until its time limit.
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

// end stops the watch and waits for it, so that it cancels nothing afterwards.
func (w *failureWatch) end() {
	w.stop()
	w.running.Wait()
}

// reason stops the watch. It returns the error for which the watch has ended the operation, else the error of the operation.
func (w *failureWatch) reason(err error) error {
	w.end()
	defer w.cancel(nil)
	if cause := w.cause(); err != nil && isFinal(cause) {
		return cause
	}
	return err
}

// isFinal reports whether an error ends all waiting.
func isFinal(err error) bool {
	var final interface{ isFinal() }
	return errors.As(err, &final)
}

// follow checks the machines at each change, and their OpenStackServers as soon as a machine is on OpenStack.
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
			// A heal replaces machines with another kubelet.
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

// look returns an error for a failed Cluster, or for a failed machine that is not replaced soon.
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

// clusterFailure returns the terminal failure that a Cluster reports; empty if there is none. Failures of an OpenStackCluster are
// left out: its provider retries when a resource is missing.
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

// serverOf returns the OpenStackServer of a machine; nil if there is none.
func serverOf(m *unstructured.Unstructured, servers map[string]*unstructured.Unstructured) *unstructured.Unstructured {
	if !isOnOpenStack(m) {
		return nil
	}
	return servers[text(m, "spec", "infrastructureRef", "name")]
}

// replaceFailed deletes failed machines that never had a node, so that their owners replace them.
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

// addFault adds the fault of the server in Nova to the error of a failed machine.
func (o *overlay) addFault(ctx context.Context, t *vnfm.Target, err error) error {
	var failed *failedError
	if errors.As(err, &failed) && failed.failure.server != "" {
		failed.fault = o.checker().ServerFault(ctx, t, failed.failure.server)
	}
	return err
}
