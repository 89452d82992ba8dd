// Package addons drives the add-ons of workload clusters: charts on the workload cluster that
// belong to the instance which the cluster is.
package addons

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// addonDriver is the infra driver of a workload cluster with add-ons. To the engine the
// cluster is one instance; here it has several parts: the cluster itself, which is on its
// management cluster, and each add-on, which is a chart on the workload cluster and
// driven as an instance of its own, with an id that derives from the cluster's. Every
// part keeps its objects in the one inventory, under its name.
//
// Add-ons are installed once the objects of the cluster are written and the workload API
// answers, and before the wait for the cluster: its nodes may be waiting for them.
type addonDriver struct {
	vnfm.InfraDriver
	cfg Config
	// installed are the add-ons that the cluster is to have, removed those that it is to lose.
	installed, removed []*addon
}

// Config says what the driver stands on.
type Config struct {
	// Workload drives what is on workload clusters.
	Workload vnfm.InfraDriver
	// Clusters reads the kubeconfigs of workload clusters.
	Clusters vnfm.ClusterDriver
	// Chart gives the archive of a chart as a file system with one file, which is the one
	// listed.
	Chart func(ctx context.Context, source *vnfm.ChartSource) (fs.FS, []vnfm.PackageFile, error)
}

// addon is one add-on, with its chart as a package, or the error of its chart.
type addon struct {
	vnfm.Addon
	name     string
	pkg      *vnfm.Package
	chartErr error
}

// part identifies the objects of the add-on in the inventory.
func (a *addon) part() parts.ID { return parts.ID{Addon: a.name} }

// wrap names the add-on in an error. An add-on fails in the middle of an operation, so that
// the error must not be taken for that of a request which was refused.
func (a *addon) wrap(err error) error {
	var invalid *vnfm.InvalidError
	if errors.As(err, &invalid) {
		err = errors.New(err.Error())
	}
	return fmt.Errorf("add-on %q: %w", a.name, err)
}

// New returns the driver of a workload cluster with its add-ons, given that of the cluster
// alone.
func New(ctx context.Context, cluster vnfm.InfraDriver, i *vnfm.Instance, cfg Config) vnfm.InfraDriver {
	if i.Cluster == nil || (len(i.Cluster.Addons) == 0 && !hasAddons(i.Inventory)) {
		return cluster
	}
	out := &addonDriver{InfraDriver: cluster, cfg: cfg}
	if i.Cluster.IsPaused() {
		// A paused cluster is left alone.
		return out
	}
	order, _ := vnfm.AddonOrder(i.Cluster.Addons)
	for _, name := range order {
		a := &addon{Addon: i.Cluster.Addons[name], name: name}
		a.pkg, a.chartErr = out.packageOf(ctx, a)
		if a.Unwanted {
			// A missing chart must not keep the removal from going on.
			out.removed = append([]*addon{a}, out.removed...)
			continue
		}
		out.installed = append(out.installed, a)
	}
	return out
}

// packageOf is the package that an add-on is an instance of: one with its chart.
func (d *addonDriver) packageOf(ctx context.Context, a *addon) (*vnfm.Package, error) {
	content, files, err := d.cfg.Chart(ctx, &a.Source)
	if err != nil {
		return nil, err
	}
	name := "add-on/" + a.name
	return &vnfm.Package{
		ID: vnfm.PackageID(name, files[0].Digest), Name: name, Digest: files[0].Digest, Files: files, Content: content,
		Descriptor: &vnfm.Descriptor{
			ID: name, DefaultFlavourID: addonFlavour,
			Flavours: []vnfm.Flavour{{ID: addonFlavour, MCIOPs: []vnfm.MCIOP{{ID: a.name, File: files[0].Path}}}},
		},
	}, nil
}

// addonFlavour is the only deployment flavour of an add-on.
const addonFlavour = "default"

// cluster is the target of the cluster itself.
func (d *addonDriver) cluster(t *vnfm.Target) *vnfm.Target {
	out, instance := *t, *t.Instance
	instance.Inventory = parts.Inventory(t.Instance, parts.ID{})
	out.Instance = &instance
	return &out
}

// target is the target of one add-on.
func (d *addonDriver) target(a *addon, t *vnfm.Target, vim *vnfm.VIM, credentials vnfm.Credentials) *vnfm.Target {
	params, names := map[string]any{}, d.cfg.Workload.Params()
	if len(a.Values) > 0 {
		params[names.ChartValues] = a.Values
	}
	if v := t.Instance.Cluster.KubernetesVersion; v != "" {
		params[names.ChartKubernetesVersion] = v
	}
	out := &vnfm.Target{
		VIM: vim, Credentials: credentials, Package: a.pkg,
		ForceConflicts: t.ForceConflicts, AdoptExisting: t.AdoptExisting, DigestKey: t.DigestKey, Concurrency: t.Concurrency,
		Results: t.Results.Part(a.name), Restores: t.Restores,
		Access: func(ctx context.Context, _ string) (*vnfm.VIM, vnfm.Credentials, error) { return d.open(ctx, t) },
		Instance: &vnfm.Instance{
			ID: addonID(t.Instance.ID, a.name), Name: a.name, VIMID: t.Instance.VIMID, Namespace: a.Namespace,
			AdditionalParams: params, OperationalState: vnfm.Started, Status: t.Instance.Status, Generation: t.Instance.Generation,
			Inventory: parts.Inventory(t.Instance, a.part()),
		},
	}
	if a.Regenerate != nil && a.Regenerate.Trigger != t.Instance.AddonTriggers[a.name] {
		out.Regenerate = a.Regenerate
	}
	if a.pkg != nil {
		out.Flavour = &a.pkg.Descriptor.Flavours[0]
		out.Instance.PackageID, out.Instance.VNFDID, out.Instance.FlavourID = a.pkg.ID, a.pkg.Descriptor.ID, addonFlavour
	}
	return out
}

// addonID is the id that the objects of an add-on are labelled with. It needs no record:
// a store that was lost finds them again.
func addonID(cluster, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(cluster+"/"+name)).String()
}

// Preview implements vnfm.InfraDriver.
func (d *addonDriver) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	preview, problems := d.InfraDriver.Preview(ctx, d.cluster(t))
	listed, more := d.preview(ctx, t)
	if problems = append(problems, more...); problems.HasErrors() {
		return nil, problems
	}
	maps.Copy(preview.Objects, listed)
	return preview, problems
}

// Render implements vnfm.InfraDriver. The objects of add-ons are summed up.
func (d *addonDriver) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	rendering, problems := d.InfraDriver.Render(ctx, d.cluster(t))
	listed, more := d.preview(ctx, t)
	if problems = append(problems, more...); problems.HasErrors() {
		return nil, problems
	}
	maps.Copy(rendering.Objects, listed)
	for _, a := range d.installed {
		if key := vnfm.AddonKey(a.name); listed[key] != "" && rendering.Fields != nil {
			fields := map[string]any{"namespace": a.Namespace, "objects": fielddiff.Secret(listed[key])}
			if chart := a.Source.Chart; chart != nil {
				fields["chart"], fields["version"] = chart.Name, chart.Version
			}
			rendering.Fields[key] = fields
		}
	}
	return rendering, problems
}

// preview returns the entries of the add-ons among the objects of their cluster.
func (d *addonDriver) preview(ctx context.Context, t *vnfm.Target) (map[string]string, vnfm.Problems) {
	out := map[string]string{}
	var problems vnfm.Problems
	for _, a := range d.installed {
		if a.chartErr != nil {
			problems = append(problems, d.problem(a, vnfm.Problem{Summary: "its chart cannot be read", Detail: a.chartErr.Error() + "; correct the arguments that name it"}))
			continue
		}
		p, found := d.cfg.Workload.Preview(ctx, d.target(a, t, nil, nil))
		for _, problem := range found {
			problems = append(problems, d.problem(a, problem))
		}
		if p != nil {
			out[vnfm.AddonKey(a.name)] = digestOf(p.Objects)
		}
	}
	return out, problems
}

// problem puts what is wrong with an add-on at its place in the request.
func (d *addonDriver) problem(a *addon, p vnfm.Problem) vnfm.Problem {
	p.Attribute, p.Key = vnfm.AttributeAddons, a.name
	p.Summary = fmt.Sprintf("add-on %q: %s", a.name, strings.TrimPrefix(p.Summary, fmt.Sprintf("additional parameter %q ", d.cfg.Workload.Params().ChartValues)))
	return p
}

// DryRun implements vnfm.InfraDriver. Add-ons are not tried: the workload cluster may be
// there only when they are installed.
func (d *addonDriver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	own := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		connection, _ := vnfm.CutConnection(key)
		return connection == vnfm.ListedAddons
	})
	if len(own) == 0 {
		return nil, nil
	}
	return d.InfraDriver.DryRun(ctx, d.cluster(t), own)
}

// Apply implements vnfm.InfraDriver.
func (d *addonDriver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return d.InfraDriver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (d *addonDriver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return d.InfraDriver.Scale(ctx, t, r) })
}

// Heal implements vnfm.InfraDriver: one of the whole cluster applies the add-ons again.
func (d *addonDriver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return d.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return d.InfraDriver.Heal(ctx, t, h, r) })
}

// DigestKey implements vnfm.InfraDriver: the key of the cluster is that of its add-ons.
func (d *addonDriver) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	return d.InfraDriver.DigestKey(ctx, d.cluster(t))
}

// Recover implements vnfm.InfraDriver. A workload cluster that cannot be reached does not tell of its add-ons; the next apply of the
// cluster writes them again.
func (d *addonDriver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	all := parts.NewRecorder(r, t.Instance.Inventory)
	if err := d.InfraDriver.Recover(ctx, d.cluster(t), all.Part(parts.ID{})); err != nil || len(d.installed) == 0 {
		return err
	}
	vim, credentials, err := d.reach(ctx, t, vnfm.KubeconfigSpec{})
	if err != nil {
		return nil //nolint:nilerr // what it does not tell is not known
	}
	for _, a := range d.installed {
		if err := d.cfg.Workload.Recover(ctx, d.target(a, t, vim, credentials), all.Part(a.part())); err != nil {
			return nil //nolint:nilerr // as above
		}
	}
	return nil
}

// CheckTermination implements vnfm.InfraDriver. Objects on the workload cluster are removed
// with the cluster, whatever their finalizers are.
func (d *addonDriver) CheckTermination(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec) error {
	return d.InfraDriver.CheckTermination(ctx, d.cluster(t), spec)
}

// Terminate implements vnfm.InfraDriver. Add-ons go with the machines that they are on.
func (d *addonDriver) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	return d.InfraDriver.Terminate(ctx, d.cluster(t), spec, parts.NewRecorder(r, t.Instance.Inventory).Part(parts.ID{}))
}

// operate makes one call that changes the cluster, and installs the add-ons on the way.
func (d *addonDriver) operate(ctx context.Context, t *vnfm.Target, r vnfm.Recorder, call func(*vnfm.Target, vnfm.Recorder) error) error {
	// Rendering errors are reported before anything is made.
	if _, problems := d.preview(ctx, t); problems.HasErrors() {
		return problems.Err()
	}
	all := parts.NewRecorder(r, t.Instance.Inventory)
	target := d.cluster(t)
	if len(d.installed)+len(d.removed) > 0 {
		target.Insert(vnfm.Step{At: vnfm.AfterWrite, Name: "add-ons", Run: func(ctx context.Context) error { return d.install(ctx, t, all) }})
	}
	return call(target, all.Part(parts.ID{}))
}

// apiLimit is longer than any operation has time: its own limit ends the waiting.
const apiLimit = 365 * 24 * time.Hour

// install removes the add-ons that the cluster is to lose, in the reverse order, and
// then installs the others, each as soon as those that it comes after are ready.
func (d *addonDriver) install(ctx context.Context, t *vnfm.Target, all *parts.Recorder) error {
	vim, credentials, err := d.reach(ctx, t, vnfm.KubeconfigSpec{Wait: apiLimit, Waiting: func(reason error) {
		all.Progress(ctx, fmt.Sprintf("waiting for the API server of the workload cluster: %v", reason))
	}})
	if err != nil {
		return err
	}
	for _, a := range d.removed {
		spec := vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep}
		if err := d.cfg.Workload.Terminate(ctx, d.target(a, t, vim, credentials), spec, all.Part(a.part())); err != nil {
			return a.wrap(fmt.Errorf("removing it: %w", err))
		}
	}
	return d.inOrder(ctx, func(ctx context.Context, a *addon) error {
		return d.cfg.Workload.Apply(ctx, d.target(a, t, vim, credentials), all.Part(a.part()))
	})
}

// inOrder calls a function for all add-ons at the same time, but for each only after those
// that it comes after. One that fails skips those that come after it, and no others.
func (d *addonDriver) inOrder(ctx context.Context, call func(context.Context, *addon) error) error {
	type result struct {
		done chan struct{}
		err  error
	}
	results := map[string]*result{}
	for _, a := range d.installed {
		results[a.name] = &result{done: make(chan struct{})}
	}
	var work sync.WaitGroup
	for _, a := range d.installed {
		work.Go(func() {
			own := results[a.name]
			defer close(own.done)
			for _, name := range a.After {
				before := results[name]
				<-before.done
				if before.err != nil {
					own.err = errSkipped
					return
				}
			}
			if err := call(ctx, a); err != nil {
				own.err = a.wrap(err)
			}
		})
	}
	work.Wait()
	var errs []error
	for _, a := range d.installed {
		if err := results[a.name].err; !errors.Is(err, errSkipped) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// errSkipped is the error of an add-on that is not tried because one before it has failed.
var errSkipped = errors.New("the preceding add-on has failed")

// open is reach for a preview, which has not opened the management cluster.
func (d *addonDriver) open(ctx context.Context, t *vnfm.Target) (vim *vnfm.VIM, credentials vnfm.Credentials, err error) {
	own := *t
	if own.VIM == nil {
		if own.Access == nil {
			return nil, nil, errors.New("the management cluster is not known yet")
		}
		if own.VIM, own.Credentials, err = own.Access(ctx, t.Instance.VIMID); err != nil {
			return nil, nil, err
		}
	}
	return d.reach(ctx, &own, vnfm.KubeconfigSpec{})
}

// reach returns the workload cluster as a VIM. Its credentials are read where they are, and again when the cluster refuses them: a
// kubeconfig may be replaced while charts are installed.
func (d *addonDriver) reach(ctx context.Context, t *vnfm.Target, spec vnfm.KubeconfigSpec) (*vnfm.VIM, vnfm.Credentials, error) {
	ref := t.Instance.ClusterRef()
	k, err := d.cfg.Clusters.Kubeconfig(ctx, t.VIM, t.Credentials, ref, spec)
	if err != nil {
		return nil, nil, err
	}
	vim := &vnfm.VIM{Name: t.Instance.Cluster.Name, Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{
		KubeconfigRef: &ref,
		Renew: ref.Renewal(func(ctx context.Context) (*vnfm.Kubeconfig, error) {
			return d.cfg.Clusters.Kubeconfig(ctx, t.VIM, t.Credentials, ref, vnfm.KubeconfigSpec{})
		}),
	}}
	return vim, vnfm.Credentials{vnfm.CredentialKubeconfig: k.Raw}, nil
}
