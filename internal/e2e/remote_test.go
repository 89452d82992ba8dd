//go:build unix

package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/postgres"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// envStore names the store of the tests that kill and of those of several stacks: "kubernetes", "postgres", or the local one when it is empty.
const envStore = "VNF_TEST_STORE"

// remoteStore is a store that outlives the runner.
type remoteStore struct {
	// full is the argument store for a runner that does everything, reading for one that may only read the store.
	full, reading string
	// open returns a handle of its own.
	open func(t *testing.T) store.Store
}

// remoteStores make a store each. Requests to that of Kubernetes come through the gateway, as those to the VIM do.
var remoteStores = map[string]func(t *testing.T, env *testEnv) *remoteStore{
	"kubernetes": func(t *testing.T, env *testEnv) *remoteStore {
		t.Helper()
		namespace := env.lab.Namespace(t)
		with := func(token string) string {
			return fmt.Sprintf("kubernetes = { namespace = %q, endpoint = %q, ca_certificate = file(%q), bearer_token = %q }",
				namespace, env.way.endpoint, env.way.caFile, token)
		}
		return &remoteStore{full: with(env.lab.AdminToken), reading: with(env.lab.StoreToken(t, namespace, "vnf-planner")), open: func(t *testing.T) store.Store {
			t.Helper()
			client, err := kube.New(kube.Config{
				Peer: vnfm.Peer{Name: "the cluster of the store", Settings: "store.kubernetes"}, UserAgent: "e2e",
				Connection:  vnfm.KubernetesConnection{Endpoint: env.lab.Endpoint, CACertificate: env.lab.ReadFile(t, env.lab.CAFile)},
				Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.lab.AdminToken)},
			})
			require.NoError(t, err)
			opened, err := kubernetes.Open(t.Context(), client, namespace, version)
			require.NoError(t, err)
			return opened
		}}
	},
	"postgres": func(t *testing.T, _ *testEnv) *remoteStore {
		t.Helper()
		server := pgtest.Start(t)
		with := func(parameters string) string {
			return fmt.Sprintf("postgres = { conn_str = %q }", server.URL(pgtest.Superuser, pgtest.Password, "postgres", "sslmode=disable"+parameters))
		}
		return &remoteStore{full: with(""), reading: with("&options=-c%20default_transaction_read_only%3Don"), open: func(t *testing.T) store.Store {
			t.Helper()
			opened, err := postgres.Open(t.Context(), postgres.Config{ConnStr: server.ConnStr("postgres"), Release: version})
			require.NoError(t, err)
			return opened
		}}
	},
}

// newStoreEnv returns an environment with the store that envStore names.
func newStoreEnv(t *testing.T) *testEnv {
	t.Helper()
	env := newEnv(t)
	if name := os.Getenv(envStore); name != "" && name != "local" {
		env.useRemote(t, name)
	}
	return env
}

// noStore is the name of a store that does not outlive the runner: the default one, in its HOME.
const noStore = "none"

// useRemote gives the environment a store that outlives the runner; or none that does, and the connections of VIMs with each run. Each
// run is then in a PID namespace of its own, where this process may make one: a runner cannot see whether its predecessor has ended, as
// on another machine, and knows it by its lease alone.
func (env *testEnv) useRemote(t *testing.T, name string) {
	t.Helper()
	env.isolation = ownPIDs()
	if name == noStore {
		env.forgetful = true
		env.secret = env.lab.AdminToken
		env.perRun = fmt.Sprintf("%s = { kubernetes = { endpoint = %q, ca_certificate = file(%q), bearer_token = var.secret } }",
			env.vim(), env.way.endpoint, env.way.caFile)
		return
	}
	newStore, ok := remoteStores[name]
	if !ok {
		t.Fatalf("the store is %q, and must be local, kubernetes, postgres or none", name)
	}
	env.remote = newStore(t, env)
	env.records = env.remote.open(t)
	t.Cleanup(func() { require.NoError(t, env.records.Close()) })
}

// ownUsers has each runner from now on be a user of its own, where this process may run programs as others. They can read these
// temporary files and directories.
func (env *testEnv) ownUsers(t *testing.T, paths ...string) {
	t.Helper()
	if env.user = newUser(); env.user == 0 {
		return
	}
	readable(t, append(paths, env.way.caFile)...)
	env.tools = env.tools.shared(t)
	env.useProvider(env.tools)
}

// provider is the configuration of the provider with the store of the environment; without one, with the connections of VIMs, which take
// the secret of the environment as the variable "secret".
func (env *testEnv) provider() string {
	switch {
	case env.forgetful:
		return fmt.Sprintf(`
variable "secret" {
  type      = string
  ephemeral = true
  default   = null
}

provider "vnf" {
  vims = {
    %s
  }
}
`, env.perRun)
	case env.remote != nil:
		return fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n}\n", env.remote.full)
	}
	return env.store.Provider()
}

// moveOn goes on with another runner, which gets configuration and state and these files, where the store outlives the last one or
// where none does.
func (env *testEnv) moveOn(files ...string) {
	env.Helper()
	if env.remote != nil || env.forgetful {
		env.module = env.next(files...)
	}
}

// looked has a look into the store; without one that outlives the runner, into the one in the HOME of the present runner, unless it has
// none.
func (env *testEnv) looked(look func(store.Store)) {
	env.Helper()
	if !env.forgetful {
		look(env.records)
		return
	}
	path := env.storeFile()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	opened, err := sqlite.Open(env.Context(), path, version)
	require.NoError(env, err)
	look(opened)
	require.NoError(env, opened.Close())
}

// storeFile is the path of the local store that the runner uses.
func (env *testEnv) storeFile() string {
	if env.forgetful {
		return filepath.Join(env.home, ".local/state/terraform-provider-vnf/store.db")
	}
	return env.store.Path
}
