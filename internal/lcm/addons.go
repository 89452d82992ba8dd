package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// furnished is the infra driver of a workload cluster with add-ons. To the engine the
// cluster is one instance; here it has several parts: the cluster itself, which is on its
// management cluster, and each add-on, which is a chart on the workload cluster and
// driven as an instance of its own, with an id that derives from the cluster's. Every
// part keeps its objects in the one inventory, under its name.
//
// Add-ons are installed once the objects of the cluster are written and the workload API
// answers, and before the cluster is waited for: its nodes may be waiting for them.
type furnished struct {
	vnfm.InfraDriver
	engine *Engine
	// workload drives what is on the workload cluster.
	workload vnfm.InfraDriver
	// addons are those that the cluster is to have, gone those that it is to lose.
	addons, gone []*addon
}

// addon is one add-on, with its chart as a package, or why that cannot be had.
type addon struct {
	vnfm.Addon
	name string
	pkg  *vnfm.Package
	lost error
}

// inventoryAddon begins the connection that the objects of an add-on have in the inventory.
const inventoryAddon = vnfm.ListedAddons + " "

func (a *addon) connection() string { return inventoryAddon + a.name }

// says names the add-on in an error. What is wrong with it is wrong in the middle of an
// operation: whoever hears of it must not take it for a request that was refused.
func (a *addon) says(err error) error {
	var invalid *vnfm.InvalidError
	if errors.As(err, &invalid) {
		err = errors.New(err.Error())
	}
	return fmt.Errorf("add-on %q: %w", a.name, err)
}

// furnish returns the driver of a workload cluster with its add-ons, given that of the
// cluster alone.
func (e *Engine) furnish(ctx context.Context, cluster vnfm.InfraDriver, i *vnfm.Instance) (vnfm.InfraDriver, error) {
	if i.Cluster == nil || (len(i.Cluster.Addons) == 0 && !hasAddons(i.Inventory)) {
		return cluster, nil
	}
	out := &furnished{InfraDriver: cluster, engine: e}
	var err error
	if out.workload, err = e.driver(vnfm.VIMTypeKubernetes); err != nil {
		return nil, err
	}
	if i.Cluster.Paused {
		// Nobody works on a paused cluster.
		return out, nil
	}
	order, _ := vnfm.AddonOrder(i.Cluster.Addons)
	for _, name := range order {
		a := &addon{Addon: i.Cluster.Addons[name], name: name}
		a.pkg, a.lost = e.addonPackage(ctx, a)
		if a.Unwanted {
			// What cannot be had any more is no reason to leave anything behind.
			out.gone = append([]*addon{a}, out.gone...)
			continue
		}
		out.addons = append(out.addons, a)
	}
	return out, nil
}

// addonPackage is the package that an add-on is an instance of: one with its chart.
func (e *Engine) addonPackage(ctx context.Context, a *addon) (*vnfm.Package, error) {
	content, files, err := e.chartContent(ctx, &a.Source)
	if err != nil {
		return nil, err
	}
	name := "add-on/" + a.name
	return &vnfm.Package{
		ID: vnfm.PackageID(name, files[0].Digest), Name: name, Digest: files[0].Digest, Files: files, Content: content,
		Descriptor: &vnfm.Descriptor{
			ID: name, DefaultFlavourID: addonFlavour,
			Flavours: []vnfm.Flavour{{ID: addonFlavour, MCIOPs: []vnfm.MCIOP{{ID: a.name, File: archiveName}}}},
		},
	}, nil
}

const (
	// addonFlavour is the only deployment flavour of an add-on.
	addonFlavour = "default"
	// paramValues and paramKubeVersion are the additional parameters by which a chart is
	// told its values and the version of Kubernetes.
	paramValues      = "helm_parameters"
	paramKubeVersion = "helm_kube_version"
)

// cluster is the target of the cluster itself.
func (f *furnished) cluster(t *vnfm.Target) *vnfm.Target {
	out, instance := *t, *t.Instance
	instance.Inventory = inventoryOf(t.Instance, "")
	out.Instance = &instance
	return &out
}

// target is that of one add-on.
func (a *addon) target(t *vnfm.Target, vim *vnfm.VIM, credentials vnfm.Credentials) *vnfm.Target {
	params := map[string]any{}
	if len(a.Values) > 0 {
		params[paramValues] = a.Values
	}
	if v := t.Instance.Cluster.KubernetesVersion; v != "" {
		params[paramKubeVersion] = v
	}
	out := &vnfm.Target{
		VIM: vim, Credentials: credentials, Package: a.pkg,
		ForceConflicts: t.ForceConflicts, AdoptExisting: t.AdoptExisting, DigestKey: t.DigestKey, Concurrency: t.Concurrency,
		Instance: &vnfm.Instance{
			ID: addonID(t.Instance.ID, a.name), Name: a.name, VIMID: t.Instance.VIMID, Namespace: a.Namespace,
			AdditionalParams: params, OperationalState: vnfm.Started, OnFailure: t.Instance.OnFailure, Status: t.Instance.Status,
			Inventory: inventoryOf(t.Instance, a.connection()),
		},
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
func (f *furnished) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	preview, problems := f.InfraDriver.Preview(ctx, f.cluster(t))
	listed, more := f.listed(ctx, t)
	if problems = append(problems, more...); problems.HasErrors() {
		return nil, problems
	}
	maps.Copy(preview.Objects, listed)
	return preview, problems
}

// Render implements vnfm.InfraDriver. The objects of add-ons are summed up.
func (f *furnished) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	rendering, problems := f.InfraDriver.Render(ctx, f.cluster(t))
	listed, more := f.listed(ctx, t)
	if problems = append(problems, more...); problems.HasErrors() {
		return nil, problems
	}
	maps.Copy(rendering.Objects, listed)
	return rendering, problems
}

// listed are the entries of the add-ons among the objects of their cluster.
func (f *furnished) listed(ctx context.Context, t *vnfm.Target) (map[string]string, vnfm.Problems) {
	out := map[string]string{}
	var problems vnfm.Problems
	for _, a := range f.addons {
		if a.lost != nil {
			problems = append(problems, a.problem(vnfm.Problem{Summary: "its chart cannot be had", Detail: a.lost.Error()}))
			continue
		}
		p, found := f.workload.Preview(ctx, a.target(t, nil, nil))
		for _, problem := range found {
			problems = append(problems, a.problem(problem))
		}
		if p != nil {
			out[vnfm.AddonKey(a.name)] = sumUp(p.Objects)
		}
	}
	return out, problems
}

// problem puts what is wrong with an add-on at its place in the request.
func (a *addon) problem(p vnfm.Problem) vnfm.Problem {
	p.Attribute, p.Key = vnfm.AttributeAddons, a.name
	p.Summary = fmt.Sprintf("add-on %q: %s", a.name, strings.TrimPrefix(p.Summary, fmt.Sprintf("additional parameter %q ", paramValues)))
	return p
}

// DryRun implements vnfm.InfraDriver. Add-ons are not tried: the workload cluster may be
// there only when they are installed.
func (f *furnished) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	own := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		connection, _ := vnfm.CutConnection(key)
		return connection == vnfm.ListedAddons
	})
	if len(own) == 0 {
		return nil, nil
	}
	return f.InfraDriver.DryRun(ctx, f.cluster(t), own)
}

// Apply implements vnfm.InfraDriver.
func (f *furnished) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return f.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return f.InfraDriver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (f *furnished) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return f.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return f.InfraDriver.Scale(ctx, t, r) })
}

// Heal implements vnfm.InfraDriver: one of the whole cluster applies the add-ons again.
func (f *furnished) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return f.operate(ctx, t, r, func(t *vnfm.Target, r vnfm.Recorder) error { return f.InfraDriver.Heal(ctx, t, h, r) })
}

// DigestKey implements vnfm.InfraDriver: the key of the cluster is that of its add-ons.
func (f *furnished) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	return f.InfraDriver.DigestKey(ctx, f.cluster(t))
}

// CheckTermination implements vnfm.InfraDriver. What is on the workload cluster goes
// with it, whoever would have finished it.
func (f *furnished) CheckTermination(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec) error {
	return f.InfraDriver.CheckTermination(ctx, f.cluster(t), spec)
}

// Terminate implements vnfm.InfraDriver. Add-ons go with the machines that they are on.
func (f *furnished) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	return f.InfraDriver.Terminate(ctx, f.cluster(t), spec, newWholeRecorder(r, t.Instance.Inventory).of(""))
}

// operate makes one call that changes the cluster, and has the add-ons seen to on the way.
func (f *furnished) operate(ctx context.Context, t *vnfm.Target, r vnfm.Recorder, call func(*vnfm.Target, vnfm.Recorder) error) error {
	// What cannot be rendered is refused before anything is made.
	if _, problems := f.listed(ctx, t); problems.HasErrors() {
		return problems.Err()
	}
	whole := newWholeRecorder(r, t.Instance.Inventory)
	target := f.cluster(t)
	if len(f.addons)+len(f.gone) > 0 {
		target.Hooks.AfterWrite = func(ctx context.Context) error { return f.install(ctx, t, whole) }
	}
	return call(target, whole.of(""))
}

// apiLimit is longer than any operation has time: its own limit ends the waiting.
const apiLimit = 365 * 24 * time.Hour

// install removes the add-ons that the cluster is to lose, in the reverse order, and
// then installs the others, each as soon as those that it comes after are ready.
func (f *furnished) install(ctx context.Context, t *vnfm.Target, whole *wholeRecorder) error {
	vim, credentials, err := f.reach(ctx, t, vnfm.KubeconfigSpec{Wait: apiLimit, Waiting: func(reason error) {
		whole.to.Progress(ctx, fmt.Sprintf("waiting for the workload API, on which the add-ons are to be: %v", reason))
	}})
	if err != nil {
		return err
	}
	for _, a := range f.gone {
		spec := vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep}
		if err := f.workload.Terminate(ctx, a.target(t, vim, credentials), spec, whole.of(a.connection())); err != nil {
			return a.says(fmt.Errorf("removing it: %w", err))
		}
	}
	return f.inOrder(ctx, func(ctx context.Context, a *addon) error {
		return f.workload.Apply(ctx, a.target(t, vim, credentials), whole.of(a.connection()))
	})
}

// inOrder does something to all add-ons at the same time, but to each only when it is
// done to those that it comes after. One that fails ends those that come after it, and
// no others.
func (f *furnished) inOrder(ctx context.Context, call func(context.Context, *addon) error) error {
	type turn struct {
		over chan struct{}
		err  error
	}
	turns := map[string]*turn{}
	for _, a := range f.addons {
		turns[a.name] = &turn{over: make(chan struct{})}
	}
	var work sync.WaitGroup
	for _, a := range f.addons {
		work.Go(func() {
			own := turns[a.name]
			defer close(own.over)
			for _, name := range a.After {
				before := turns[name]
				<-before.over
				if before.err != nil {
					own.err = errNotItsTurn
					return
				}
			}
			if err := call(ctx, a); err != nil {
				own.err = a.says(err)
			}
		})
	}
	work.Wait()
	var errs []error
	for _, a := range f.addons {
		if err := turns[a.name].err; !errors.Is(err, errNotItsTurn) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// errNotItsTurn is the error of an add-on of which the one before it has failed.
var errNotItsTurn = errors.New("the add-on before it has failed")

// reach returns the workload cluster as a VIM. Its credentials are read where they are.
func (f *furnished) reach(ctx context.Context, t *vnfm.Target, spec vnfm.KubeconfigSpec) (*vnfm.VIM, vnfm.Credentials, error) {
	d, err := f.engine.clusters()
	if err != nil {
		return nil, nil, err
	}
	k, err := d.Kubeconfig(ctx, t.VIM, t.Credentials, clusterRef(t.Instance), spec)
	if err != nil {
		return nil, nil, err
	}
	vim := &vnfm.VIM{Name: t.Instance.Cluster.Name, Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{}}
	return vim, vnfm.Credentials{vnfm.CredentialKubeconfig: k.Raw}, nil
}
