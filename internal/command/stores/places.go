package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/postgres"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// envConnStr is the environment variable with the connection string, which may hold a
// password and so is no argument.
const envConnStr = "PG_CONN_STR"

// Names says how stores are named, for the texts of help.
const Names = `STORE is one of
  PATH                the file of a local store (store = { local = { path = ... } });
                      when no STORE is named: the provider's default local store
  postgres            the schema "vnf" of the database that PG_CONN_STR names
  postgres:SCHEMA     another schema of it
  kubernetes:NAMESPACE
                      a namespace of the cluster that KUBECONFIG names: one file, whose
                      current context is used

PG_CONN_STR is a URL (postgres://user@host:5432/database) or pairs (host=... dbname=...). A
password comes from it, from PGPASSWORD or from a password file, never from an argument.`

// place is an open store with a name for people.
type place struct {
	store.Portable
	name string
	// keyFile is where the key is when nothing else is said; empty for nowhere.
	keyFile string
}

func (p *place) Name() string { return p.name }

// kind is a kind of stores.
type kind struct {
	// rest returns what names a store of this kind, when the argument does.
	rest func(argument string) (rest string, ok bool)
	// open opens it. mustExist refuses one that is not there.
	open func(ctx context.Context, rest, release string, mustExist bool) (*place, error)
}

// kinds are tried in this order; the last one takes everything.
func kinds() []kind {
	return []kind{
		{rest: inPostgres, open: openPostgres},
		{rest: inKubernetes, open: openKubernetes},
		{rest: onDisk, open: openLocal},
	}
}

// openPlace opens the store of an argument. Every error is one of usage.
func openPlace(ctx context.Context, argument, release string, mustExist bool) (*place, error) {
	for _, k := range kinds() {
		rest, ok := k.rest(argument)
		if !ok {
			continue
		}
		p, err := k.open(ctx, rest, release, mustExist)
		if err != nil {
			return nil, cli.Usage(err)
		}
		return p, nil
	}
	return nil, cli.Usagef("there is no kind of store for %q: a store is PATH, postgres, postgres:SCHEMA or kubernetes:NAMESPACE", scheme(argument))
}

// Open opens an existing store. Every error is one of usage.
func Open(ctx context.Context, argument, release string) (store.Portable, error) {
	return openPlace(ctx, argument, release, true)
}

// withStore opens an existing store, works on it and closes it.
func withStore(ctx context.Context, argument, release string, work func(*place) error) (err error) {
	s, err := openPlace(ctx, argument, release, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s)
}

// scheme is what an argument begins with. The rest is not repeated: it may hold a password.
func scheme(argument string) string {
	before, _, _ := strings.Cut(argument, "://")
	return before + "://..."
}

func inPostgres(argument string) (string, bool) {
	word, schema, named := strings.Cut(argument, ":")
	if !named {
		schema = postgres.DefaultSchema
	}
	return schema, word == "postgres" || word == "postgresql"
}

func openPostgres(ctx context.Context, schema, release string, _ bool) (*place, error) {
	if schema == "" {
		return nil, errors.New("postgres: names no schema: name the store postgres:SCHEMA, or postgres for the schema " + postgres.DefaultSchema)
	}
	if strings.HasPrefix(schema, "//") {
		return nil, fmt.Errorf("a connection string is no argument, for others can read the arguments of a program: set %s to it, and name the store postgres", envConnStr)
	}
	connStr := os.Getenv(envConnStr)
	if connStr == "" && os.Getenv("PGHOST") == "" && os.Getenv("PGSERVICE") == "" {
		return nil, fmt.Errorf("no server is named for the store postgres: set %s to postgres://user@host:5432/database", envConnStr)
	}
	s, err := postgres.Open(ctx, postgres.Config{ConnStr: connStr, Schema: schema, Release: release})
	if err != nil {
		return nil, err
	}
	return portable(s, "PostgreSQL store, schema "+schema, "")
}

func inKubernetes(argument string) (string, bool) {
	word, namespace, _ := strings.Cut(argument, ":")
	return namespace, word == "kubernetes" && !strings.HasPrefix(namespace, "//")
}

func openKubernetes(ctx context.Context, namespace, release string, _ bool) (*place, error) {
	path := os.Getenv(connect.EnvKubeconfig)
	if path == "" || namespace == "" {
		return nil, fmt.Errorf("a store of Kubernetes needs a namespace and a kubeconfig: name it kubernetes:NAMESPACE, and set %s to the path of one file", connect.EnvKubeconfig)
	}
	client, err := kube.New(kube.Config{
		Connection: vnfm.KubernetesConnection{KubeconfigPath: path}, Credentials: vnfm.Credentials{}, UserAgent: connect.UserAgent(release),
		Peer: vnfm.Peer{Name: "the Kubernetes cluster of " + connect.EnvKubeconfig, Settings: path},
	})
	if err != nil {
		return nil, err
	}
	s, err := kubernetes.Open(ctx, client, namespace, release)
	if err != nil {
		return nil, err
	}
	return portable(s, "Kubernetes store, namespace "+namespace, "")
}

func onDisk(argument string) (string, bool) { return argument, !strings.Contains(argument, "://") }

func openLocal(ctx context.Context, path, release string, mustExist bool) (*place, error) {
	if path == "" {
		defaultPath, err := sqlite.DefaultPath()
		if err != nil {
			return nil, err
		}
		path = defaultPath
	}
	database, err := sqlite.RealPath(path)
	if err != nil {
		return nil, err
	}
	// An empty file would become a store, though it is one that is to be read.
	if file, err := os.Stat(database); mustExist && (errors.Is(err, fs.ErrNotExist) || err == nil && file.Mode().IsRegular() && file.Size() == 0) {
		return nil, fmt.Errorf("there is no local store at %s: name the file that store = { local = { path = ... } } of the provider names", database)
	}
	s, err := sqlite.Open(ctx, database, release)
	if err != nil {
		return nil, err
	}
	return portable(s, "local store "+database, filepath.Join(filepath.Dir(database), "key.txt"))
}

func portable(s store.Store, name, keyFile string) (*place, error) {
	p, ok := s.(store.Portable)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s cannot be copied by this release", name), s.Close())
	}
	return &place{Portable: p, name: name, keyFile: keyFile}, nil
}

// named is the argument of a command that takes one store.
func named(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
