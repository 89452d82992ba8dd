package capi

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// overlay is the infra driver of a workload cluster. It extends the infra driver of the
// management cluster with the parts that are particular to Cluster API.
type overlay struct {
	vnfm.InfraDriver
	clients *kube.Pool
	clouds  *openstack.Pool
}

// Preview adds the application credential, and its Secret on the workload cluster.
func (o *overlay) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	preview, problems := o.InfraDriver.Preview(ctx, t)
	addCredential(preview, t)
	return preview, problems
}

// Render adds the machines, and the application credential without any fields.
func (o *overlay) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	rendering, problems := o.InfraDriver.Render(ctx, t)
	if rendering != nil {
		addCredential(&rendering.Preview, t)
		rendering.Units = units(t.Instance.Cluster.Name, rendering.Fields)
	}
	return rendering, problems
}

func addCredential(p *vnfm.Preview, t *vnfm.Target) {
	if spec := t.Instance.Cluster; p != nil && spec.OwnCredential() != nil {
		p.Objects[cloud.CredentialKey(spec.Name)] = cloud.CredentialDigest(spec.OpenStack)
		if spec.OpenStack.OwnerLater {
			p.Objects[cloud.CredentialKey(spec.Name)] = ""
		}
		if wanted := spec.CloudConfig(); wanted != nil {
			p.Objects[cloud.ConfigKey(wanted)] = cloud.ConfigDigest(wanted)
		}
	}
}

// Apply brings the management cluster to the target and waits until the workload
// cluster is ready and its API answers. The application credential is created before
// the objects that need it, and a former one is deleted when nothing uses it.
func (o *overlay) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	c, err := o.cluster(t)
	if err != nil {
		return err
	}
	if err := c.markForDeletion(ctx); err != nil {
		return err
	}
	if err := c.awaitFormer(ctx, t.Instance.Inventory, r); err != nil {
		return err
	}
	l := cloud.NewInventory(t, r)
	a := cloud.NewCredential(c.cloudCluster(), o.clouds, t, l)
	target := l.WithoutCredentials(t)
	watched, failures := c.watchFailures(ctx, r)
	steps := []vnfm.Step{
		{At: vnfm.AfterNamespaces, Name: "application credential", Run: a.Ensure},
		{At: vnfm.AfterWrite, Name: "watch of all machines", Run: failures.step(allMachines)},
	}
	if config := (&cloud.Config{Credential: a, Workload: c.awaitedWorkload(l)}); config.IsNeeded() {
		// Add-ons of the cloud provider, which are installed after this step, read the configuration.
		steps = append(steps, vnfm.Step{At: vnfm.AfterWrite, Name: "cloud configuration", Run: config.Ensure})
	}
	upgrading, err := c.upgradesNodes(ctx)
	if err != nil {
		return err
	}
	if upgrading {
		target.Defer = isNodeGroup
		steps = append(steps,
			vnfm.Step{At: vnfm.BeforeDeferred, Name: "watch of the machines of the control plane", Run: failures.step(controlPlaneMachines)},
			vnfm.Step{At: vnfm.BeforeDeferred, Name: "control plane", Run: func(ctx context.Context) error { return c.awaitControlPlane(ctx, r) }})
	}
	target.Insert(append(steps,
		vnfm.Step{At: vnfm.BeforePrune, Name: "workload cluster", Run: func(ctx context.Context) error {
			if err := c.awaitReady(ctx, l); err != nil {
				return err
			}
			failures.end()
			return nil
		}},
		vnfm.Step{At: vnfm.BeforePrune, Name: "marked machines", Run: func(ctx context.Context) error { return c.awaitMarkedMachines(ctx, l) }},
		vnfm.Step{At: vnfm.BeforePrune, Name: "former application credential", Run: a.RemoveFormer})...)
	if err := failures.reason(o.InfraDriver.Apply(watched, target, l)); err != nil {
		return o.checker().AddProblems(ctx, t, c.explainError(ctx, o.addFault(ctx, t, err)))
	}
	return nil
}

// DryRun asks the management cluster, and adds the checks of machine names, immutable fields
// and the OpenStack of the machines.
func (o *overlay) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	problems, err := o.InfraDriver.DryRun(ctx, cloud.NewInventory(t, nil).WithoutCredentials(t), keys)
	if err != nil || t.Package == nil {
		return problems, err
	}
	c, err := o.cluster(t)
	if err != nil {
		return problems, err
	}
	if t.Instance.Status == vnfm.StatusInstantiated {
		// The machines named by a resumed operation may be deleted already.
		found, err := c.checkMachineNames(ctx)
		if problems = append(problems, found...); err != nil {
			return problems, err
		}
	}
	if !problems.HasErrors() {
		problems = append(problems, c.cloudCluster().ImmutableChanges(ctx, t)...)
	}
	problems = append(problems, o.checker().NodeNeeds(ctx, t)...)
	if c.spec.OpenStack != nil {
		problems = append(problems, o.checker().Check(ctx, t)...)
	}
	return problems, nil
}

// Observe adds the state of the workload cluster, and of its application credential.
func (o *overlay) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	l := cloud.NewInventory(t, nil)
	c, err := o.cluster(t)
	if err != nil {
		return nil, err
	}
	var (
		seen  *vnfm.Observation
		state *vnfm.ClusterState
		both  errgroup.Group
	)
	both.Go(func() (err error) {
		seen, err = o.InfraDriver.Observe(ctx, l.WithoutCredentials(t))
		return err
	})
	both.Go(func() (err error) {
		state, _, err = c.state(ctx)
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	seen.Cluster = state
	a := cloud.NewCredential(c.cloudCluster(), o.clouds, t, l)
	if err := a.Observe(ctx, seen); err != nil {
		return nil, err
	}
	(&cloud.Config{Credential: a, Workload: c.workload}).Observe(ctx, seen)
	return seen, nil
}

// workload returns a client of the workload API with the present kubeconfig.
func (c *cluster) workload(ctx context.Context) (*kube.Client, error) {
	k, err := c.readKubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	return c.clientOf(k)
}

// awaitedWorkload returns a function that waits for the workload API and returns its client.
func (c *cluster) awaitedWorkload(r vnfm.Recorder) func(ctx context.Context) (*kube.Client, error) {
	return func(ctx context.Context) (*kube.Client, error) {
		k, err := c.awaitKubeconfig(ctx, func(reason error) {
			r.Progress(ctx, fmt.Sprintf("waiting for the API server of the workload cluster: %v", reason))
		})
		if err != nil {
			return nil, err
		}
		return c.clientOf(k)
	}
}

// Resources implements vnfm.InfraDriver: the machines of the workload cluster.
func (o *overlay) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	c, err := o.cluster(t)
	if err != nil {
		return nil, err
	}
	machines, err := c.machines(ctx)
	return &vnfm.ResourceInfo{VNFCs: machines}, err
}

// Terminate deletes the Cluster and waits until Cluster API has deleted its dependants in its
// own order. The remaining objects are then deleted like any others, the application
// credential last. Cluster API could not finish the deletion of a Cluster whose children or
// credentials are deleted first.
func (o *overlay) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	c, err := o.cluster(t)
	if err != nil {
		return err
	}
	l := cloud.NewInventory(t, r)
	a := cloud.NewCredential(c.cloudCluster(), o.clouds, t, l)
	rest := cloud.NewCleanup(a, spec.LeftBehind)
	if err := c.remove(ctx, l, rest.Begin); err != nil {
		return err
	}
	rest.Finish(ctx)
	if err := a.RemoveSecrets(ctx); err != nil {
		return err
	}
	if err := o.InfraDriver.Terminate(ctx, l.WithoutCredentials(t), spec, l); err != nil {
		return err
	}
	return a.RemoveAll(ctx, spec.LeftBehind)
}

// cluster is one workload cluster on its management cluster.
type cluster struct {
	client *kube.Client
	// clients is the pool for clients of workload APIs.
	clients *kube.Pool
	spec    *vnfm.ClusterSpec
	// instance is the id of the instance, the label of all objects of the cluster.
	instance  string
	namespace string
	name      string
	// began is the start of the operation: older events do not explain its errors.
	began time.Time
}

func (o *overlay) cluster(t *vnfm.Target) (*cluster, error) {
	if t.VIM == nil || t.Instance.Cluster == nil {
		return nil, fmt.Errorf("workload cluster %q has no management cluster", t.Instance.Name)
	}
	client, err := o.clients.Client(t.VIM.Name, t.VIM.Kubernetes, t.Credentials)
	if err != nil {
		return nil, err
	}
	return &cluster{
		client: client, clients: o.clients, spec: t.Instance.Cluster, instance: t.Instance.ID,
		namespace: t.Instance.Namespace, name: t.Instance.Cluster.Name, began: time.Now(),
	}, nil
}

func (c *cluster) String() string { return fmt.Sprintf("workload cluster %s/%s", c.namespace, c.name) }

// cloudCluster returns the cluster for package cloud.
func (c *cluster) cloudCluster() *cloud.Cluster {
	return &cloud.Cluster{Client: c.client, Spec: c.spec, Instance: c.instance, Namespace: c.namespace, Name: c.name}
}

// checker returns the checks of the OpenStack of clusters.
func (o *overlay) checker() *cloud.Checker {
	return &cloud.Checker{Clouds: o.clouds, Cluster: func(t *vnfm.Target) (*cloud.Cluster, error) {
		c, err := o.cluster(t)
		if err != nil {
			return nil, err
		}
		return c.cloudCluster(), nil
	}}
}
