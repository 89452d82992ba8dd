package provider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/progress"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/postgres"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keyFileName is the file beside the store that holds the key when none is configured.
const keyFileName = "key.txt"

// settings are what a configuration says that is known but for vims and management_params.
type settings struct {
	store       storeSettings
	key         seal.Source
	concurrency int
	vims        vnfm.VIMAccesses
	params      vnfm.RunParams
}

func (m *model) settings(ctx context.Context, userAgent string, diags *diag.Diagnostics) settings {
	s := settings{concurrency: defaultConcurrency}
	if !m.Concurrency.IsNull() {
		s.concurrency = int(m.Concurrency.ValueInt64())
	}
	var st storeModel
	if !m.Store.IsNull() {
		diags.Append(tfutil.Into(ctx, m.Store, &st)...)
	}
	s.store = st.read(ctx, userAgent, diags)
	if !m.Encryption.IsNull() {
		var e encryptionModel
		diags.Append(tfutil.Into(ctx, m.Encryption, &e)...)
		s.key.KeyFile, s.key.Key = e.KeyFile.ValueString(), e.Key.ValueString()
		readBarbican(ctx, e.Barbican, &s.key, userAgent, diags)
	}
	s.vims = readVIMs(ctx, m.VIMs, diags)
	s.params = readManagementParams(m.ManagementParams, diags)
	return s
}

// storeOpener opens a store.
type storeOpener = func(ctx context.Context) (store.Store, error)

// openStore returns what opens the store, and says where its key is when none is configured.
func (s *settings) openStore(ctx context.Context, version string, diags *diag.Diagnostics) storeOpener {
	switch {
	case s.store.local != nil:
		return s.openLocal(ctx, version, diags)
	case s.store.postgres != nil:
		p := s.store.postgres
		return s.openRemote(func(ctx context.Context) (store.Store, error) {
			return postgres.Open(ctx, postgres.Config{ConnStr: p.connStr, Schema: p.schema, Release: version})
		})
	default:
		k := s.store.kubernetes
		return s.openRemote(func(ctx context.Context) (store.Store, error) {
			return kubernetes.Open(ctx, k.client, k.namespace, version)
		})
	}
}

// openLocal is openStore of a file, which has the key beside it. Where it cannot be made, a plan says so already.
func (s *settings) openLocal(ctx context.Context, version string, diags *diag.Diagnostics) storeOpener {
	at := s.store.local.path
	var err error
	if at == "" {
		at, err = sqlite.DefaultPath()
	}
	database := ""
	if err == nil {
		database, err = sqlite.RealPath(at)
	}
	if err == nil {
		err = sqlite.CheckPlace(ctx, at)
	}
	if err != nil {
		diags.AddAttributeError(path.Root("store"), "No Usable Store Path", tfutil.ErrorDetail(err))
		return nil
	}
	s.key.DefaultKeyFile = filepath.Join(filepath.Dir(database), keyFileName)
	return func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, at, version) }
}

// openRemote is openStore of a store that keeps its key itself, and whose records are not read twice in a moment. The key is read from the store
// that the manager has opened.
func (s *settings) openRemote(open storeOpener) storeOpener {
	var mu sync.Mutex
	var opened store.Store
	once := func(ctx context.Context) (store.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			return opened, nil
		}
		s, err := open(ctx)
		if err == nil {
			opened = store.KeepRecent(s)
		}
		return opened, err
	}
	s.key.DefaultPlace = seal.KeyIn(once)
	return once
}

// newManager builds the embedded VNF manager. It opens nothing.
func newManager(ctx context.Context, version string, m *model, diags *diag.Diagnostics) vnfm.Manager {
	if notice := tracing.Warning(); notice != "" {
		diags.AddWarning("Tracing Not As Configured", strings.ToUpper(notice[:1])+notice[1:]+".")
	}
	userAgent := "terraform-provider-vnf/" + version
	s := m.settings(ctx, userAgent, diags)
	if diags.HasError() {
		return nil
	}
	open := s.openStore(ctx, version, diags)
	if diags.HasError() {
		return nil
	}
	keyring, err := seal.New(s.key)
	if err != nil {
		diags.AddAttributeError(path.Root("encryption"), "Unusable Encryption Key", tfutil.ErrorDetail(err))
		return nil
	}
	cfg := lcm.Config{
		OpenStore:   open,
		Keyring:     keyring,
		Concurrency: s.concurrency,
		VIMs:        s.vims,
		Params:      s.params,
		// One run of Terraform starts all its processes of the provider.
		RunID:    strconv.Itoa(os.Getppid()),
		Progress: follow(diags),
	}
	return NewEngine(version, cfg)
}

// NewEngine returns a VNF manager that stands on cfg and has all drivers.
func NewEngine(version string, cfg lcm.Config) *lcm.Engine {
	cfg.Management = management()
	drivers("terraform-provider-vnf/"+version, &cfg)
	return lcm.New(cfg)
}

// envProgress names a file or a terminal that gets a line for each step of an operation.
const envProgress = "VNF_PROGRESS"

// follow returns what is called with the progress of operations.
func follow(diags *diag.Diagnostics) func(ctx context.Context, p vnfm.Progress) {
	lines := func(vnfm.Progress) {}
	if name := os.Getenv(envProgress); name != "" {
		opened, err := progress.Open(name)
		if err != nil {
			diags.AddWarning("Progress Not Shown", fmt.Sprintf("The file that the environment variable %s names cannot be written, so that no progress is shown: %v.", envProgress, err))
		} else {
			lines = opened.Write
		}
	}
	return func(ctx context.Context, p vnfm.Progress) {
		lines(p)
		op := p.Operation
		tracing.Log(ctx, tracing.Operations, "LCM operation", map[string]any{
			"instance": p.Instance, "instance_id": op.InstanceID, "operation_id": op.ID, "type": string(op.Type), "state": string(op.State), "progress": p.Line,
		})
	}
}
