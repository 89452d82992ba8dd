package provider

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// asOptions reads objects whose children may be left out.
var asOptions = basetypes.ObjectAsOptions{}

// keyFileName is the file beside the store that holds the key when none is configured.
const keyFileName = "key.txt"

// settings are what a fully known configuration says.
type settings struct {
	storePath   string
	key         seal.Source
	concurrency int
}

func (m *model) settings(ctx context.Context, userAgent string, diags *diag.Diagnostics) settings {
	s := settings{concurrency: defaultConcurrency}
	if !m.Concurrency.IsNull() {
		s.concurrency = int(m.Concurrency.ValueInt64())
	}
	if !m.Store.IsNull() {
		var st storeModel
		diags.Append(m.Store.As(ctx, &st, asOptions)...)
		if !st.Local.IsNull() {
			var local localStoreModel
			diags.Append(st.Local.As(ctx, &local, asOptions)...)
			s.storePath = local.Path.ValueString()
		}
	}
	if !m.Encryption.IsNull() {
		var e encryptionModel
		diags.Append(m.Encryption.As(ctx, &e, asOptions)...)
		s.key.KeyFile, s.key.Key = e.KeyFile.ValueString(), e.Key.ValueString()
		readBarbican(ctx, e.Barbican, &s.key, userAgent, diags)
	}
	return s
}

// newManager builds the embedded VNF manager. It opens nothing.
func newManager(ctx context.Context, version string, m *model, diags *diag.Diagnostics) vnfm.Manager {
	userAgent := "terraform-provider-vnf/" + version
	s := m.settings(ctx, userAgent, diags)
	if diags.HasError() {
		return nil
	}
	if s.storePath == "" {
		defaultPath, err := sqlite.DefaultPath()
		if err != nil {
			diags.AddAttributeError(path.Root("store"), "No Usable Store Path",
				tfutil.ErrorDetail(err))
			return nil
		}
		s.storePath = defaultPath
	}
	database, err := sqlite.RealPath(s.storePath)
	if err != nil {
		diags.AddAttributeError(path.Root("store"), "No Usable Store Path", tfutil.ErrorDetail(err))
		return nil
	}
	s.key.DefaultKeyFile = filepath.Join(filepath.Dir(database), keyFileName)
	keyring, err := seal.New(s.key)
	if err != nil {
		diags.AddAttributeError(path.Root("encryption"), "Unusable Encryption Key", tfutil.ErrorDetail(err))
		return nil
	}
	cfg := lcm.Config{
		OpenStore:   func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, s.storePath, version) },
		Keyring:     keyring,
		Management:  management(),
		Concurrency: s.concurrency,
		// One run of Terraform starts all its processes of the provider.
		RunID: strconv.Itoa(os.Getppid()),
		Progress: func(ctx context.Context, op vnfm.Operation, line string) {
			tflog.Info(ctx, "LCM operation", map[string]any{
				"instance_id": op.InstanceID, "operation_id": op.ID, "type": string(op.Type), "state": string(op.State), "progress": line,
			})
		},
	}
	drivers(userAgent, &cfg)
	return lcm.New(cfg)
}
