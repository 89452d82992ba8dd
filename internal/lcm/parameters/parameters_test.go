package parameters_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parameters"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// infra is an infra driver that declares parameters.
type infra struct {
	vnfm.InfraDriver
	params    vnfm.InfraParams
	ofPackage []string
	unread    bool
}

func (d *infra) Params() vnfm.InfraParams { return d.params }

func (d *infra) PackageParams(context.Context, *vnfm.Package, *vnfm.Flavour) ([]string, bool) {
	return d.ofPackage, !d.unread
}

// management is a management driver that declares parameters.
type management struct {
	vnfm.ManagementDriver
	params []string
}

func (m management) Params() []string { return m.params }

var (
	containers = &infra{params: vnfm.InfraParams{
		Driver: "the Kubernetes driver", Names: []string{"helm_parameters", "namespace"}, Translated: []string{"use_helm"}, Namespace: "namespace",
		Ignored: map[string]string{"upgrade_type": "pods are rolled"},
	}}
	servers = &infra{params: vnfm.InfraParams{
		Driver: "the OpenStack driver", Names: []string{"nfv"}, Ignored: map[string]string{"upgrade_type": "servers are updated", "vdu_params": "all are"},
	}, ofPackage: []string{"collector"}}
	hooks = map[string]vnfm.ManagementDriver{"a": management{params: []string{"cluster"}}, "b": management{params: []string{"cluster", "host"}}}
)

// Each parameter goes to whoever knows it; one that nobody of the instance knows is an error with the nearest name.
func TestCheck(t *testing.T) {
	table := parameters.NewTable([]vnfm.InfraDriver{containers, servers}, hooks)
	type params = map[string]any
	for name, tt := range map[string]struct {
		drivers       []vnfm.InfraDriver
		plain, secret params
		want          []string
	}{
		"each its own": {[]vnfm.InfraDriver{servers, containers}, params{"nfv": 1, "helm_parameters": 1, "use_helm": true}, params{"collector": "a", "nfv": 2}, nil},
		"misspelt": {[]vnfm.InfraDriver{servers, containers}, params{"colector": 1}, params{"helm_parameter": 1, "zzz": 1}, []string{
			`additional_params[colector] additional parameter "colector" is not known: did you mean "collector"? The OpenStack driver knows nfv, collector; the Kubernetes driver knows helm_parameters, namespace`,
			`additional_params_wo[helm_parameter] additional parameter "helm_parameter" is not known: did you mean "helm_parameters"? The OpenStack driver knows nfv, collector; the Kubernetes driver knows helm_parameters, namespace`,
			`additional_params_wo[zzz] additional parameter "zzz" is not known: the OpenStack driver knows nfv, collector; the Kubernetes driver knows helm_parameters, namespace`,
		}},
		"of a package on another VIM": {[]vnfm.InfraDriver{containers}, params{"collector": 1}, nil, []string{
			`additional_params[collector] additional parameter "collector" is not known: the Kubernetes driver knows helm_parameters, namespace`,
		}},
		"of other kinds": {[]vnfm.InfraDriver{containers}, params{"upgrade_type": 1, "vdu_params": 1, "lcm-operation-user-data": 1}, params{"nfv": 1}, []string{
			`additional_params[] the Kubernetes driver ignores additional parameters "lcm-operation-user-data", "nfv", "upgrade_type", "vdu_params": ` +
				"lcm-operation-user-data: Python classes of a package are never run; nfv, vdu_params: a parameter of the OpenStack driver; upgrade_type: pods are rolled",
		}},
		"ignored by all": {[]vnfm.InfraDriver{servers, containers}, nil, params{"upgrade_type": 1, "vdu_params": 1}, []string{
			`additional_params_wo[] the OpenStack driver and the Kubernetes driver ignore additional parameters "upgrade_type", "vdu_params": ` +
				"upgrade_type: servers are updated, and pods are rolled; vdu_params: all are",
		}},
		"of hooks": {[]vnfm.InfraDriver{servers, servers}, params{"cluster": 1, "host": 1}, nil, []string{
			`additional_params[cluster] additional parameter "cluster" is not supported by the OpenStack driver: it is a parameter of management driver "a" or "b", which the VNFD names for no hook`,
			`additional_params[host] additional parameter "host" is not supported by the OpenStack driver: it is a parameter of management driver "b", which the VNFD names for no hook`,
		}},
		"skipped driver": {[]vnfm.InfraDriver{containers}, params{"vendor_url": 1, "zone": 1, "helm_parameter": 1}, nil, []string{
			`additional_params[helm_parameter] additional parameter "helm_parameter" is not known: did you mean "helm_parameters"? The Kubernetes driver knows helm_parameters, namespace`,
			`additional_params[] the Kubernetes driver ignores additional parameters "vendor_url", "zone": vendor_url, zone: skipped with management driver "vendor.py"`,
		}},
		"namespace of another VIM": {[]vnfm.InfraDriver{servers, containers}, params{"namespace": "core"}, nil, []string{
			`additional_params[namespace] additional parameter "namespace" is for the VIM of the instance, which has no namespaces: remove it; the namespace of a VIM connection is given in vim_connections`,
		}},
		"namespace without any": {[]vnfm.InfraDriver{servers}, params{"namespace": "core"}, nil, []string{
			`additional_params[namespace] additional parameter "namespace" is for the VIM of the instance, which has no namespaces: remove it; the namespace of a VIM connection is given in vim_connections`,
		}},
		"namespace of its own":        {[]vnfm.InfraDriver{containers, servers}, params{"namespace": "core"}, nil, nil},
		"package that cannot be read": {[]vnfm.InfraDriver{&infra{params: servers.params, unread: true}}, params{"anything": 1}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			request := parameters.Request{Package: &vnfm.Package{}, Flavour: &vnfm.Flavour{}, Drivers: tt.drivers, Params: tt.plain, Secrets: tt.secret}
			if strings.HasPrefix(name, "skipped") {
				request.Skipped = []string{"vendor.py"}
			}
			for _, p := range table.Check(t.Context(), &request) {
				got = append(got, fmt.Sprintf("%s[%s] %s", p.Attribute, p.Key, p))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// A driver takes its own parameters and those of its package, also without a package that was lost.
func TestTakes(t *testing.T) {
	takes := parameters.Takes(t.Context(), servers, &vnfm.Package{}, &vnfm.Flavour{})
	require.True(t, takes("nfv"))
	require.True(t, takes("collector"))
	require.False(t, takes("helm_parameters"))
	require.True(t, parameters.Takes(t.Context(), containers, nil, nil)("use_helm"))
}
