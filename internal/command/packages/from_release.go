package packages

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/configuration"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fromRelease packs a Helm release that belongs to no instance.
type fromRelease struct {
	// place is NAMESPACE/NAME, chart the path of its chart where Helm has not recorded all of it.
	place, chart string
	cluster      connect.Kubernetes
}

func (r *fromRelease) run(ctx context.Context, cmd *cobra.Command, version, name string) error {
	namespace, releaseName, ok := strings.Cut(r.place, "/")
	if !ok || namespace == "" || !helm.ValidReleaseName(releaseName) {
		return cli.Usagef("--from-release is %q; write NAMESPACE/NAME, as helm list --all-namespaces shows them", r.place)
	}
	t, err := targetOf(name)
	if err != nil {
		return err
	}
	client, err := r.cluster.Client(version)
	if err != nil {
		return err
	}
	record, err := release.Find(ctx, client, namespace, releaseName)
	if err != nil {
		return err
	}
	d := &draft{
		name: releaseName, version: record.AppVersion(), origin: "release " + namespace + "/" + releaseName + " of chart " + record.ChartName(),
		description: fmt.Sprintf("The Helm release %s of the chart %s %s", releaseName, record.ChartName(), record.ChartVersion()),
		at:          record.LastDeployed().Truncate(time.Second), files: map[string][]byte{}, chart: "Artifacts/Charts/" + record.ChartName(),
	}
	if d.version == "" {
		d.version = record.ChartVersion()
	}
	files, err := r.chartFiles(ctx, record)
	if err != nil {
		return err
	}
	for file, data := range files {
		d.files[d.chart+"/"+file] = data
	}
	all, err := release.Workloads(ctx, client, record, namespace)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the release %s has no Deployment, StatefulSet or DaemonSet: nothing of it would be a VDU", r.place)
	}
	f := &found{record: record, namespace: namespace, mapping: d.addWorkloads(all)}
	if err := f.readCluster(ctx, client); err != nil {
		return err
	}
	return d.packRelease(ctx, cmd, version, t, f)
}

// chartFiles are the files of the chart: those that Helm has recorded, or those that the user has.
func (r *fromRelease) chartFiles(ctx context.Context, record *helm.Release) (map[string][]byte, error) {
	if r.chart == "" {
		if missing := record.MissingCharts(); len(missing) > 0 {
			return nil, fmt.Errorf("the chart %s %s has sub-charts, of which Helm records nothing (%s): give the chart with --chart PATH, a directory or an archive as helm pull fetches it",
				record.ChartName(), record.ChartVersion(), strings.Join(missing, ", "))
		}
		return record.ChartFiles()
	}
	path := filepath.Clean(r.chart)
	name, version, files, err := helm.ReadChart(ctx, os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, cli.Usagef("reading the chart %s: %w", r.chart, err)
	}
	if name != record.ChartName() || version != record.ChartVersion() {
		return nil, cli.Usagef("--chart %s is the chart %s %s, but the release is of %s %s", r.chart, name, version, record.ChartName(), record.ChartVersion())
	}
	return files, nil
}

// addWorkloads adds a VDU for each workload of the release. It has the name of the workload without that of the release, which is
// another one where the package is used again. Where two have the same name, vdu_mapping says which is which.
func (d *draft) addWorkloads(all []release.Workload) (mapping map[string]any) {
	names, short := map[string]int{}, map[string]int{}
	shortOf := func(name string) string { return cmp.Or(strings.TrimPrefix(name, d.name+"-"), name) }
	for _, w := range all {
		names[w.Name]++
		short[shortOf(w.Name)]++
	}
	mapping = map[string]any{}
	for _, w := range all {
		name := shortOf(w.Name)
		if short[name] > 1 {
			name = w.Name
		}
		vdu := draftVDU{id: name, name: name, kind: vduOfContainers, description: w.Kind + " " + name, count: w.Replicas}
		if names[w.Name] > 1 {
			vdu.id += "-" + strings.ToLower(w.Kind)
			mapping[vdu.id] = map[string]any{"kind": w.Kind, "name": w.Name}
		}
		d.vdus = append(d.vdus, vdu)
	}
	return mapping
}

// Fields of additional_params.
const (
	paramRelease = "helm_release_name"
	paramValues  = "helm_parameters"
	paramMapping = "vdu_mapping"
	paramKube    = "helm_kube_version"
	paramAPIs    = "helm_api_versions"
)

// found is a release with what of its arguments its record does not say.
type found struct {
	record    *helm.Release
	namespace string
	mapping   map[string]any
	// version and apis are those of the cluster.
	version string
	apis    []any
}

// readCluster reads what the charts of releases ask of a cluster.
func (f *found) readCluster(ctx context.Context, client *kube.Client) (err error) {
	if f.version, err = client.ServerVersion(ctx); err != nil {
		return err
	}
	all, err := client.GroupVersions(ctx)
	for _, name := range all {
		group, _, _ := strings.Cut(name, "/")
		if strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
			f.apis = append(f.apis, name)
		}
	}
	return err
}

// packRelease writes package, values and configuration.
func (d *draft) packRelease(ctx context.Context, cmd *cobra.Command, version string, t target, f *found) error {
	shown, secret, names := configuration.Part(f.record.Values())
	values, valuesOf, err := argument{".values.yaml", helm.ParameterNames(shown)}.file(t)
	if err != nil {
		return err
	}
	secrets, secretsOf, err := argument{".secrets.yaml", helm.ParameterNames(secret)}.file(t)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc([]beside{values, secrets}, func(b beside) bool { return b.path == "" })
	params := configuration.Fields{{Name: paramRelease, Value: d.name}, {Name: paramValues, Value: valuesOf}, {Name: paramMapping, Value: f.mapping}}
	digest, err := d.pack(ctx, cmd, version, t, others, func(ctx context.Context, e *lcm.Engine, p *vnfm.Package) error {
		missing, err := f.missing(ctx, e, p.ID, nil)
		if err == nil && len(missing) == 0 {
			return nil
		}
		// The chart may ask which Kubernetes it is for.
		if again, retried := f.missing(ctx, e, p.ID, map[string]any{paramKube: f.version, paramAPIs: f.apis}); retried == nil && len(again) == 0 {
			params = append(params, configuration.Field{Name: paramKube, Value: f.version}, configuration.Field{Name: paramAPIs, Value: f.apis})
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the chart does not make all objects of the release, and an adoption would remove them: %s", strings.Join(missing, ", "))
		}
		return err
	})
	if err != nil {
		return err
	}
	warnSecrets(cmd, secrets.path, names)
	var hidden configuration.Fields
	if secretsOf != "" {
		hidden = configuration.Fields{{Name: paramValues, Value: secretsOf}}
	}
	_, err = cmd.OutOrStdout().Write(d.terraform(t, digest, f.namespace, params, hidden))
	return err
}

// missing are the objects of the release that an instance of the package would not have.
func (f *found) missing(ctx context.Context, e *lcm.Engine, packageID string, more map[string]any) ([]string, error) {
	params := map[string]any{paramRelease: f.record.Name(), paramValues: helm.ParameterNames(f.record.Values())}
	if len(f.mapping) > 0 {
		params[paramMapping] = f.mapping
	}
	maps.Copy(params, more)
	rendered, problems, err := e.RenderInstance(ctx, vnfm.InstanceSpec{
		Name: f.record.Name(), PackageID: packageID, Namespace: f.namespace, OperationalState: vnfm.Started, AdditionalParams: params,
	})
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("rendering the chart of the release: %w", err)
	}
	return release.Missing(f.record, func(key string) bool { _, ok := rendered.Contents[key]; return ok }), nil
}
