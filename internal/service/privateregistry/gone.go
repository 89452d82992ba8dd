package privateregistry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// goneAdvice says what to do when the host of a registry that is to be removed cannot be reached.
const goneAdvice = "Nothing was removed. Check that the host runs and the network between this machine and it, then destroy again. " +
	"If the host is gone for good, set on_unreachable = \"forget\" in the resource and apply, which does not ask the host, or set it in the provider block; then destroy: " +
	"the registry leaves Terraform's state and the store, and what there is of it stays on the host."

// warnLeftBehind says what stays of a registry that is forgotten.
func warnLeftBehind(state *model, reason error, diags *diag.Diagnostics) {
	name := state.Name.ValueString()
	folder := state.StoragePath.ValueString()
	if folder == "" {
		folder = "/var/lib/" + name
	}
	diags.AddWarning(object(name)+" Was Left Behind",
		fmt.Sprintf("on_unreachable is %q, and %s. Nothing was removed from the host: the container %[3]s, its files in /etc/private-registry/%[3]s and the images in %[4]s stay there. Remove them if the host comes back.",
			vnfm.OnUnreachableForget, strings.TrimSuffix(reason.Error(), "."), name, folder))
}

// warnPinned says which keys of hosts were pinned although they are not those of the first contact: neither the
// store nor the state has these.
func warnPinned(state *model, keys map[string]string, diags *diag.Diagnostics) {
	known := tfutil.Texts(state.PinnedHostKeys)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if known[name] == "" {
			lines = append(lines, name+" "+keys[name])
		}
	}
	if len(lines) == 0 {
		return
	}
	diags.AddAttributeWarning(path.Root("pinned_host_keys"), "Host Keys of "+object(state.Name.ValueString())+" Were Pinned Again",
		"The store has lost the host keys that were pinned at first contact, and the state does not have them either. These keys are trusted now:\n\n  "+strings.Join(lines, "\n  ")+
			"\n\nCompare them with the hosts' own, /etc/ssh/ssh_host_*_key.pub, or give those as host_keys.")
}
