package privateregistry

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// words say what an installation does, as far as the arguments tell: unknown while one of them is. There is no state for a new registry.
func (m *model) words(ctx context.Context, state *model) types.List {
	if state == nil {
		if m.Name.IsUnknown() || m.Runtime.IsUnknown() {
			return types.ListUnknown(types.StringType)
		}
		return texts("INSTALL "+m.Name.ValueString(), "  container: added, by "+m.Runtime.ValueString())
	}
	var changed []string
	differ := func(arguments map[string][2]attr.Value) (differs bool) {
		for _, name := range order {
			if pair, ok := arguments[name]; ok && !pair[0].Equal(pair[1]) {
				changed, differs = append(changed, name), true
			}
		}
		return differs
	}
	server := map[string][2]attr.Value{"instance_generation": {m.InstanceGeneration, state.InstanceGeneration}, "ssh_cp_name": {m.ConnectionPoint, state.ConnectionPoint}}
	container := map[string][2]attr.Value{
		"image_path": {m.ImagePath, state.ImagePath}, "package_id": {m.PackageID, state.PackageID}, "container_image": {m.ContainerImage, state.ContainerImage},
		"port": {m.Port, state.Port}, "tls": {m.TLS, state.TLS}, "users": {m.Users, state.Users}, "users_wo_version": {m.UsersWOVersion, state.UsersWOVersion},
		"storage_path": {m.StoragePath, state.StoragePath},
	}
	for _, arguments := range []map[string][2]attr.Value{server, container, {"proxy": {m.Proxy, state.Proxy}, "ssh": {m.SSH, state.SSH}}} {
		for _, pair := range arguments {
			if !tfutil.FullyKnown(ctx, pair[0]) {
				return types.ListUnknown(types.StringType)
			}
		}
	}
	var lines []string
	if differ(server) {
		lines = append(lines, "  server: the registry is installed on it if it is another one")
	}
	if differ(container) {
		lines = append(lines, "  container: replaced, interrupted")
	}
	if differ(map[string][2]attr.Value{"proxy": {m.Proxy, state.Proxy}}) {
		lines = append(lines, "  "+m.Runtime.ValueString()+": restarted if it has another proxy, interrupted")
	}
	differ(map[string][2]attr.Value{"ssh": {m.SSH, state.SSH}})
	if len(changed) == 0 {
		first := "REPAIR " + m.Name.ValueString()
		for _, difference := range tfutil.Strings(state.Drift) {
			lines = append(lines, "  "+difference)
		}
		return texts(append([]string{first}, lines...)...)
	}
	return texts(append([]string{fmt.Sprintf("UPDATE %s: %s", m.Name.ValueString(), strings.Join(changed, ", "))}, lines...)...)
}

// order is that in which arguments that change are named.
var order = []string{
	"instance_generation", "ssh_cp_name", "image_path", "package_id", "container_image", "port", "tls", "users", "users_wo_version", "storage_path", "proxy", "ssh",
}

func texts(lines ...string) types.List {
	values := make([]attr.Value, len(lines))
	for i, line := range lines {
		values[i] = types.StringValue(line)
	}
	return types.ListValueMust(types.StringType, values)
}

// fillWords fills in what the plan could not say.
func (m *model) fillWords(ctx context.Context, state *model) {
	if !m.Operations.IsUnknown() {
		return
	}
	if m.Operations = m.words(ctx, state); m.Operations.IsUnknown() {
		m.Operations = types.ListNull(types.StringType)
	}
}

// warnOfStop says what a destroy or a replacement stops.
func warnOfStop(state *model, diags *diag.Diagnostics) {
	if status := state.Status.ValueString(); status == statusReady || status == statusDrifted {
		base.WarnOfStop(diags, object(state.Name.ValueString()), "its container")
	}
}
