package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/postgres"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// connStrEnv is the environment variable with the connection string of PostgreSQL, which
	// Terraform's own backend for it has as well.
	connStrEnv = "PG_CONN_STR"
	// kubernetesStore is where the connection of the Kubernetes store is configured.
	kubernetesStore = "store.kubernetes"
)

type storeModel struct {
	Local      types.Object `tfsdk:"local"`
	Kubernetes types.Object `tfsdk:"kubernetes"`
	Postgres   types.Object `tfsdk:"postgres"`
}

type localStoreModel struct {
	Path types.String `tfsdk:"path"`
}

type postgresStoreModel struct {
	ConnStr    types.String `tfsdk:"conn_str"`
	SchemaName types.String `tfsdk:"schema_name"`
}

// storeSettings say which store is used. Exactly one field is set.
type storeSettings struct {
	local      *localStore
	kubernetes *kubernetesStoreSettings
	postgres   *postgresStore
}

// localStore is a file; an empty path is the default one.
type localStore struct{ path string }

// kubernetesStoreSettings are a namespace of a cluster and the client of its API server.
type kubernetesStoreSettings struct {
	client    *kube.Client
	namespace string
}

// postgresStore is a schema of a PostgreSQL database.
type postgresStore struct{ connStr, schema string }

func storeAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Store for the records of the VNF manager: VIMs with their sealed credentials, package contents, instances and operations. " +
			"Set exactly one store type. Defaults to the local store at its default path.",
		Attributes: map[string]schema.Attribute{
			"local": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "SQLite database on the local disk, with package contents beside it.",
				Attributes: map[string]schema.Attribute{
					"path": schema.StringAttribute{
						Optional: true,
						MarkdownDescription: "Path of the database file. Defaults to `terraform-provider-vnf/store.db` under `$XDG_STATE_HOME`, which defaults to `~/.local/state`. " +
							"Changing this moves nothing: the next apply recreates the missing records at the new path.",
						Validators: notEmpty(),
					},
				},
			},
			"kubernetes": kubernetesStoreAttribute(),
			"postgres": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Schema of a PostgreSQL database, for runners without a Kubernetes cluster.",
				Attributes: map[string]schema.Attribute{
					"conn_str": schema.StringAttribute{
						Optional: true, Sensitive: true,
						MarkdownDescription: "Connection string as Terraform's `pg` backend has it, for example `postgres://user:password@db.example.com/vnf`. It may be an ephemeral value. Defaults to the environment variable `PG_CONN_STR`.",
						Validators:          notEmpty(),
					},
					"schema_name": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Name of the schema, which is created if it does not exist. Defaults to `" + postgres.DefaultSchema + "`.",
						Validators:          []validator.String{stringvalidator.LengthBetween(1, maxSchemaName)},
					},
				},
			},
		},
	}
}

// maxSchemaName is the longest name that PostgreSQL keeps, in bytes.
const maxSchemaName = 63

func notEmpty() []validator.String { return []validator.String{stringvalidator.LengthAtLeast(1)} }

// kubernetesConnectionAttributes are the arguments of a connection to an API server in the
// provider block, which is in no plan, state or store.
func kubernetesConnectionAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"insecure_skip_tls_verify": schema.BoolAttribute{Optional: true, MarkdownDescription: attrs.KubernetesInsecure},
		vnfm.ArgumentExec: schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: attrs.ExecDescription,
			Attributes: map[string]schema.Attribute{
				"command": schema.StringAttribute{Required: true, MarkdownDescription: attrs.ExecCommandDescription},
				"args":    schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: attrs.ExecArgsDescription},
				"env": schema.MapAttribute{
					Optional: true, ElementType: types.StringType, MarkdownDescription: "Environment variables of the program, in addition to those of Terraform.",
					Validators: []validator.Map{mapvalidator.NoNullValues()},
				},
				"api_version": schema.StringAttribute{Required: true, MarkdownDescription: attrs.ExecAPIVersionDescription},
			},
		},
	}
	paths, switches := attrs.MachineArguments()
	for _, a := range slices.Concat(attrs.KubernetesArguments(), paths) {
		attributes[a.Name] = schema.StringAttribute{Optional: true, MarkdownDescription: a.Description, Validators: notEmpty()}
	}
	attributes["endpoint"] = schema.StringAttribute{
		Optional: true, Validators: notEmpty(),
		MarkdownDescription: "URL of the API server, for example `https://10.0.0.10:6443`. It is required unless a kubeconfig contains it or `in_cluster` is `true`.",
	}
	for _, s := range switches {
		attributes[s.Name] = schema.BoolAttribute{Optional: true, MarkdownDescription: s.Description}
	}
	for _, s := range attrs.KubernetesSecrets() {
		attributes[s.Name] = schema.StringAttribute{
			Optional: true, Sensitive: true, MarkdownDescription: s.Description + " It may be an ephemeral value.", Validators: notEmpty(),
		}
	}
	return attributes
}

func kubernetesStoreAttribute() schema.SingleNestedAttribute {
	attributes := kubernetesConnectionAttributes()
	attributes["namespace"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Namespace of the records, which must exist. Each store has a namespace of its own.",
		Validators:          []validator.String{tfutil.Namespace()},
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Secrets and Leases in one namespace of a Kubernetes cluster, for runs on any machine. The connection has the arguments of `kubernetes` of a `vnf_vim`, and `kubeconfig_path` and `in_cluster`. " +
			"Exactly one way of authentication is set; environment variables and `~/.kube/config` are never read by themselves.",
		Attributes: attributes,
	}
}

// chosen are the names of the stores that are set. An unknown one may become null, so that open stores may be set as well.
func (m *storeModel) chosen() (set []string, open bool) {
	for name, value := range map[string]types.Object{"local": m.Local, "kubernetes": m.Kubernetes, "postgres": m.Postgres} {
		if tfutil.Set(value) {
			set = append(set, name)
		}
		open = open || value.IsUnknown()
	}
	slices.Sort(set)
	return set, open
}

// validate checks the store as far as it is known.
func (m *storeModel) validate(ctx context.Context, diags *diag.Diagnostics) {
	const exactlyOne = "Set exactly one store type inside \"store\", for example store = { local = {} }. Leave \"store\" out to use the local store at its default path."
	switch set, open := m.chosen(); {
	case len(set) == 0 && open:
	case len(set) == 0:
		diags.AddAttributeError(path.Root("store"), "No Store Type", exactlyOne)
		return
	case len(set) > 1:
		diags.AddAttributeError(path.Root("store"), "Several Store Types", fmt.Sprintf("These are set: %s. %s", strings.Join(set, ", "), exactlyOne))
	}
	if tfutil.Set(m.Kubernetes) && tfutil.FullyKnown(ctx, m.Kubernetes) {
		diags.Append(connectionProblems(kube.CheckConfig(kubernetesConfig(m.Kubernetes.Attributes(), "")))...)
	}
}

// read returns the store that a fully known configuration sets. It sends no request.
func (m *storeModel) read(ctx context.Context, userAgent string, diags *diag.Diagnostics) storeSettings {
	switch {
	case !m.Kubernetes.IsNull():
		attributes := m.Kubernetes.Attributes()
		client, err := kube.New(kubernetesConfig(attributes, userAgent))
		if err != nil {
			diags.Append(connectionProblems(err)...)
			return storeSettings{}
		}
		return storeSettings{kubernetes: &kubernetesStoreSettings{client: client, namespace: textOf(attributes, "namespace")}}
	case !m.Postgres.IsNull():
		var p postgresStoreModel
		diags.Append(tfutil.Into(ctx, m.Postgres, &p)...)
		connStr := p.ConnStr.ValueString()
		if connStr == "" {
			connStr = os.Getenv(connStrEnv)
		}
		if connStr == "" {
			diags.AddAttributeError(path.Root("store").AtName("postgres").AtName("conn_str"), "No Connection to PostgreSQL",
				"Set conn_str, for example \"postgres://user@db.example.com/vnf\", or the environment variable "+connStrEnv+".")
		}
		schemaName := p.SchemaName.ValueString()
		if schemaName == "" {
			schemaName = postgres.DefaultSchema
		}
		return storeSettings{postgres: &postgresStore{connStr: connStr, schema: schemaName}}
	default:
		var local localStoreModel
		if !m.Local.IsNull() {
			diags.Append(tfutil.Into(ctx, m.Local, &local)...)
		}
		return storeSettings{local: &localStore{path: local.Path.ValueString()}}
	}
}

// textOf is a string attribute, empty when it is null.
func textOf(attributes map[string]attr.Value, name string) string {
	v, _ := attributes[name].(types.String)
	return v.ValueString()
}

// kubernetesConfig reads the connection of the Kubernetes store.
func kubernetesConfig(attributes map[string]attr.Value, userAgent string) kube.Config {
	cfg := kube.Config{
		UserAgent: userAgent,
		Peer:      vnfm.Peer{Name: "the Kubernetes cluster of the store", Settings: kubernetesStore + " of the provider"},
	}
	cfg.Connection, cfg.Credentials = kubernetesConnection(attributes)
	return cfg
}

// kubernetesConnection reads the arguments of kubernetesConnectionAttributes.
func kubernetesConnection(attributes map[string]attr.Value) (vnfm.KubernetesConnection, vnfm.Credentials) {
	c, credentials := &vnfm.KubernetesConnection{}, vnfm.Credentials{}
	paths, switches := attrs.MachineArguments()
	for _, a := range slices.Concat(attrs.KubernetesArguments(), paths) {
		*a.Field(c) = textOf(attributes, a.Name)
	}
	switches = append(switches, attrs.KubernetesSwitch{
		Name: "insecure_skip_tls_verify", Field: func(c *vnfm.KubernetesConnection) *bool { return &c.InsecureSkipTLSVerify },
	})
	for _, s := range switches {
		on, _ := attributes[s.Name].(types.Bool)
		*s.Field(c) = on.ValueBool()
	}
	if exec, ok := attributes[vnfm.ArgumentExec].(types.Object); ok {
		c.Exec = attrs.Exec(exec)
	}
	for _, s := range attrs.KubernetesSecrets() {
		if secret := textOf(attributes, s.Name); secret != "" {
			credentials[s.Name] = vnfm.Secret(secret)
		}
	}
	return *c, credentials
}

// connectionProblems puts each finding about the connection at its argument. Those about
// secrets name them in their text: Terraform quotes the lines of a path.
func connectionProblems(err error) diag.Diagnostics {
	var invalid *vnfm.InvalidError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("store"), "Unusable Connection to the Store", tfutil.ErrorDetail(err))}
	}
	return placedProblems(invalid.Problems, kubernetesStore)
}

// placedProblems puts findings at the arguments below a place.
func placedProblems(problems vnfm.Problems, place string) diag.Diagnostics {
	secrets := map[string]bool{}
	for _, s := range slices.Concat(attrs.KubernetesSecrets(), attrs.OpenStackSecrets()) {
		secrets[s.Name] = true
	}
	placed := make(vnfm.Problems, 0, len(problems))
	for _, p := range problems {
		if secrets[p.Attribute] || p.Attribute == "" {
			p.Summary, p.Attribute = fmt.Sprintf("%s.%s: %s", place, p.Attribute, p.Summary), ""
		} else {
			p.Attribute = place + "." + p.Attribute
		}
		placed = append(placed, p)
	}
	return tfutil.Problems(placed, path.Empty())
}
