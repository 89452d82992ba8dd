package attrs

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// KubernetesArgument is a string argument of a connection to a Kubernetes API server that is no
// secret.
type KubernetesArgument struct {
	Name string
	// Description consists of whole sentences.
	Description string
	Field       func(*vnfm.KubernetesConnection) *string
}

// KubernetesSwitch is a boolean of a connection to a Kubernetes API server.
type KubernetesSwitch struct {
	Name        string
	Description string
	Field       func(*vnfm.KubernetesConnection) *bool
}

// KubernetesArguments are the string arguments that all connections have.
func KubernetesArguments() []KubernetesArgument {
	return []KubernetesArgument{
		{"endpoint", "URL of the API server, for example `https://10.0.0.10:6443`.",
			func(c *vnfm.KubernetesConnection) *string { return &c.Endpoint }},
		{"ca_certificate", "PEM CA bundle used to verify the server. Defaults to the CA bundle of the system.",
			func(c *vnfm.KubernetesConnection) *string { return &c.CACertificate }},
		{"tls_server_name", "Expected name in the server's certificate. Defaults to the host of the endpoint.",
			func(c *vnfm.KubernetesConnection) *string { return &c.TLSServerName }},
		{"proxy_url", "URL of an HTTP, HTTPS or SOCKS5 proxy to the API server, without credentials. Defaults to the environment variables `HTTPS_PROXY` and `NO_PROXY`.",
			func(c *vnfm.KubernetesConnection) *string { return &c.ProxyURL }},
		{"username", "Name for basic authentication, together with `password`. Kubernetes itself has not accepted it since 1.19; proxies in front of it do.",
			func(c *vnfm.KubernetesConnection) *string { return &c.Username }},
		{"client_certificate", "Client certificate as PEM, together with `client_key`.",
			func(c *vnfm.KubernetesConnection) *string { return &c.ClientCertificate }},
		{"token_file", "Path of a file with a bearer token on each machine where Terraform runs, such as the OIDC token of a pipeline. It is read at each request, so that a token that is replaced in time never expires.",
			func(c *vnfm.KubernetesConnection) *string { return &c.TokenFile }},
		{"kubeconfig_context", "Context of the kubeconfig. Defaults to the `current-context`, else to the only context.",
			func(c *vnfm.KubernetesConnection) *string { return &c.KubeconfigContext }},
	}
}

// KubernetesInsecure is the description of the argument insecure_skip_tls_verify.
const KubernetesInsecure = "Whether to skip verification of the server's certificate. Defaults to `false`, also where a kubeconfig has `insecure-skip-tls-verify`. It cannot be `true` together with `ca_certificate`."

// MachineArguments are the arguments of connections that are in no record: they name what is on
// the machine of one run.
func MachineArguments() ([]KubernetesArgument, []KubernetesSwitch) {
	return []KubernetesArgument{
			{vnfm.ArgumentKubeconfigPath, "Path of a kubeconfig, whose values the other arguments override. It is read again when the server refuses its credentials. It may name other files, and a program (`exec`) that prints the credentials.",
				func(c *vnfm.KubernetesConnection) *string { return &c.KubeconfigPath }},
		}, []KubernetesSwitch{
			{vnfm.ArgumentInCluster, "Whether to use the service account of the pod that Terraform runs in, with its endpoint, CA and token. Defaults to `false`.",
				func(c *vnfm.KubernetesConnection) *bool { return &c.InCluster }},
		}
}

// KubernetesSecrets are the secret arguments of a connection to a Kubernetes API server.
func KubernetesSecrets() []tfutil.Secret {
	return []tfutil.Secret{
		{Name: vnfm.CredentialBearerToken, Description: "Bearer token, for example of a service account, which is never renewed."},
		{Name: vnfm.CredentialPassword, Description: "Password for basic authentication, together with `username`."},
		{Name: vnfm.CredentialClientKey, Description: "Private key of the client certificate, as PEM."},
		{Name: vnfm.CredentialKubeconfig, Description: "Content of a self-contained kubeconfig (`kubectl config view --raw --flatten`)."},
	}
}

// Descriptions of the argument exec and of its arguments.
const (
	ExecDescription = "Program that prints the credentials, as in the providers `kubernetes` and `helm`: a client-go credential plugin such as `aws eks get-token`. It runs without a terminal, " +
		"when the credentials that it printed last have expired or are refused, and must be on each machine where Terraform runs."
	ExecCommandDescription    = "Path of the program, or its name on the `PATH`."
	ExecArgsDescription       = "Arguments of the program."
	ExecEnvDescription        = "Environment variables of the program, in addition to those of Terraform. They are readable in plan, state and store: secrets belong in the environment of Terraform."
	ExecAPIVersionDescription = "Version of the ExecCredential: `client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`."
)

// execTypes are the types of the argument exec.
func execTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"command": types.StringType, "args": types.ListType{ElemType: types.StringType},
		"env": types.MapType{ElemType: types.StringType}, "api_version": types.StringType,
	}
}

// Exec reads the argument exec, nil when it is not set.
func Exec(o types.Object) *vnfm.ExecPlugin {
	if !tfutil.Set(o) {
		return nil
	}
	text := func(v attr.Value) string {
		s, _ := v.(types.String)
		return s.ValueString()
	}
	plugin := &vnfm.ExecPlugin{Command: text(o.Attributes()["command"]), APIVersion: text(o.Attributes()["api_version"])}
	if args, ok := o.Attributes()["args"].(types.List); ok {
		for _, a := range args.Elements() {
			plugin.Args = append(plugin.Args, text(a))
		}
	}
	if env, ok := o.Attributes()["env"].(types.Map); ok {
		plugin.Env = tfutil.Texts(env)
	}
	return plugin
}

// ExecValue is the reverse of Exec. Collections that are empty are as they were before.
func ExecValue(plugin *vnfm.ExecPlugin, before types.Object) types.Object {
	if plugin == nil {
		return types.ObjectNull(execTypes())
	}
	args, env := types.ListNull(types.StringType), types.MapNull(types.StringType)
	if l, ok := before.Attributes()["args"].(types.List); ok && !l.IsNull() || len(plugin.Args) > 0 {
		args = tfutil.StringList(plugin.Args)
	}
	if m, ok := before.Attributes()["env"].(types.Map); ok && !m.IsNull() || len(plugin.Env) > 0 {
		env = tfutil.StringMap(plugin.Env)
	}
	return types.ObjectValueMust(execTypes(), map[string]attr.Value{
		"command": types.StringValue(plugin.Command), "args": args, "env": env, "api_version": types.StringValue(plugin.APIVersion),
	})
}
