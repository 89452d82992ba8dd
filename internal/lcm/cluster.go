package lcm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/addons"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// packageFor returns the package of a spec: the one that was onboarded, or, for a
// workload cluster, the one that is made of its specification.
func (e *Engine) packageFor(ctx context.Context, spec vnfm.InstanceSpec) (*vnfm.Package, vnfm.Problems, error) {
	if spec.Cluster == nil {
		p, err := e.catalog.PackageOf(ctx, spec.PackageID)
		return p, nil, err
	}
	d, err := e.clusters()
	if err != nil {
		return nil, nil, err
	}
	cluster := *spec.Cluster
	if c := cluster.Chart; c != nil && c.Fetched() {
		fetched := *c
		content, files, err := e.catalog.ChartContent(ctx, &c.ChartSource)
		if err != nil {
			return nil, nil, err
		}
		fetched.Archive, fetched.File = content, files[0].Path
		cluster.Chart = &fetched
	}
	p, problems := d.Package(&cluster)
	return p, append(problems, vnfm.CheckAddons(addons.Wanted(cluster.Addons))...), nil
}

func (e *Engine) clusters() (vnfm.ClusterDriver, error) {
	if e.cfg.Clusters == nil {
		return nil, errors.New("there is no driver for workload clusters")
	}
	return e.cfg.Clusters, nil
}

// withCluster returns the driver of an instance given that of its VIM: a workload cluster is
// made with it, and is more than its objects.
func (e *Engine) withCluster(ctx context.Context, d vnfm.InfraDriver, i *vnfm.Instance) (vnfm.InfraDriver, error) {
	if i.Cluster == nil {
		return d, nil
	}
	clusters, err := e.clusters()
	if err != nil {
		return nil, err
	}
	workload, err := e.vims.Driver(vnfm.VIMTypeKubernetes)
	if err != nil {
		return nil, err
	}
	return addons.New(ctx, clusters.Over(d), i, addons.Config{Workload: workload, Clusters: clusters, Chart: e.catalog.ChartContent}), nil
}

// completeCluster fills what a workload cluster's specification leaves to its
// management cluster: the namespace, and the version of Cluster API that generated
// objects are written in, see clusterAPIVersion.
func (e *Engine) completeCluster(ctx context.Context, s store.Store, vim *vnfm.VIM, spec *vnfm.InstanceSpec, ask bool) (err error) {
	cluster := *spec.Cluster
	spec.Cluster = &cluster
	spec.Namespace = e.namespaceOf(*spec, vim)
	cluster.Namespace = spec.Namespace
	if cluster.OpenStack, err = e.completeCloud(ctx, s, cluster.OpenStack); err != nil {
		return err
	}
	if err := e.completeNames(ctx, s, spec); err != nil {
		return err
	}
	if cluster.APIVersion == "" {
		cluster.APIVersion, err = e.clusterAPIVersion(ctx, vim, ask)
	}
	return err
}

// completeCloud fills what a workload cluster's part in an OpenStack leaves to the VIM: the
// owner of its application credential, and how Keystone is reached.
func (e *Engine) completeCloud(ctx context.Context, s store.Store, spec *vnfm.ClusterOpenStack) (*vnfm.ClusterOpenStack, error) {
	if spec == nil {
		return nil, nil
	}
	vim, err := e.vims.Connection(ctx, s, spec.VIMID)
	if err != nil {
		return nil, err
	}
	if vim.OpenStack == nil || vim.Cloud == nil {
		return nil, &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "openstack.vim_id", Summary: "VIM " + strconv.Quote(vim.Name) + " is not an OpenStack VIM", Detail: "give the id of a vnf_vim with the argument openstack",
		}}}
	}
	cloud := *spec
	cloud.UserID, cloud.ProjectID = vim.Cloud.UserID, vim.Cloud.ProjectID
	at := vim.OpenStack
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{vim.Endpoint, vim.Cloud.Region, at.Interface, at.CACertificate, strconv.FormatBool(at.InsecureSkipTLSVerify)}))
	cloud.Access = hex.EncodeToString(sum[:8])
	return &cloud, nil
}

// completeNames tells a workload cluster's specification how the cluster is at present.
func (e *Engine) completeNames(ctx context.Context, s store.Store, spec *vnfm.InstanceSpec) error {
	d, err := e.clusters()
	if err != nil {
		return err
	}
	found, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance, Key: keyOf(*spec)})
	if err != nil {
		return err
	}
	var present *vnfm.ClusterSpec
	if len(found) > 0 {
		present = found[0].Value.Cluster
	}
	d.CarryOver(spec.Cluster, present)
	return nil
}

// WorkloadCluster implements vnfm.Manager.
func (e *Engine) WorkloadCluster(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.ClusterState, []vnfm.VNFC, error) {
	d, err := e.clusters()
	if err != nil {
		return nil, nil, err
	}
	vim, creds, err := e.vims.Open(ctx, ref.VIMID)
	if err != nil {
		return nil, nil, err
	}
	return d.Look(ctx, vim, creds, ref)
}

// WorkloadKubeconfig implements vnfm.Manager.
func (e *Engine) WorkloadKubeconfig(ctx context.Context, ref vnfm.ClusterRef, spec vnfm.KubeconfigSpec) (*vnfm.Kubeconfig, error) {
	d, err := e.clusters()
	if err != nil {
		return nil, err
	}
	vim, creds, err := e.vims.Open(ctx, ref.VIMID)
	if err != nil {
		return nil, err
	}
	return d.Kubeconfig(ctx, vim, creds, ref, spec)
}
