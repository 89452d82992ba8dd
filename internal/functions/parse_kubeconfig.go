package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// NewParseKubeconfig returns the function parse_kubeconfig.
func NewParseKubeconfig() function.Function {
	return parser{name: "parse_kubeconfig", parse: readKubeconfig, definition: function.Definition{
		Summary: "Parse a kubeconfig",
		Description: "Returns one context of a kubeconfig: host, cluster_ca_certificate, insecure, tls_server_name, proxy_url, " +
			"client_certificate, client_key, token, username, password, context and namespace.",
		MarkdownDescription: "Returns one context of a kubeconfig, under the names that the arguments of Kubernetes providers have: " +
			"`host`, `cluster_ca_certificate`, `insecure`, `tls_server_name`, `proxy_url`, `client_certificate`, `client_key`, `token`, `username`, `password`, `context` and `namespace`.\n\n" +
			"Certificates and keys are decoded from base64 to PEM. Values that the kubeconfig does not contain are null; `insecure` is then false. " +
			"The function opens no file and runs no program: a kubeconfig that names files is rejected (`kubectl config view --raw --flatten` writes a self-contained one), " +
			"and one whose credentials come from an exec plugin has no credentials in the result.\n\n" +
			"The result is as sensitive as the argument: Terraform marks it so when the argument is sensitive or ephemeral.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "content",
				Description:         "Content of the kubeconfig.",
				MarkdownDescription: "Content of the kubeconfig, for example `file(\"kubeconfig.yaml\")`.",
			},
		},
		VariadicParameter: function.StringParameter{
			Name:                "context",
			Description:         "Name of the context, at most one. Defaults to the current context.",
			MarkdownDescription: "Name of the context, at most one. Defaults to the `current-context`, else to the only context.",
		},
		Return: function.ObjectReturn{AttributeTypes: kubeconfigType},
	}}
}

var kubeconfigType = map[string]attr.Type{
	"host":                   types.StringType,
	"cluster_ca_certificate": types.StringType,
	"insecure":               types.BoolType,
	"tls_server_name":        types.StringType,
	"proxy_url":              types.StringType,
	"client_certificate":     types.StringType,
	"client_key":             types.StringType,
	"token":                  types.StringType,
	"username":               types.StringType,
	"password":               types.StringType,
	"context":                types.StringType,
	"namespace":              types.StringType,
}

func readKubeconfig(_ context.Context, content string, contexts []string) (types.Object, diag.Diagnostics, *function.FuncError) {
	wanted := ""
	switch len(contexts) {
	case 0:
	case 1:
		wanted = contexts[0]
	default:
		return types.Object{}, nil, function.NewArgumentFuncError(2, "At most one context can be given")
	}
	c, err := kubeconfig.Parse(content, wanted)
	if err != nil {
		return types.Object{}, nil, function.NewArgumentFuncError(0, "Cannot read the kubeconfig: "+err.Error())
	}
	value, diags := types.ObjectValue(kubeconfigType, map[string]attr.Value{
		"host":                   types.StringValue(c.Host),
		"cluster_ca_certificate": tfutil.OptionalString(c.ClusterCACertificate),
		"insecure":               types.BoolValue(c.Insecure),
		"tls_server_name":        tfutil.OptionalString(c.TLSServerName),
		"proxy_url":              tfutil.OptionalString(c.ProxyURL),
		"client_certificate":     tfutil.OptionalString(c.ClientCertificate),
		"client_key":             tfutil.OptionalString(c.ClientKey),
		"token":                  tfutil.OptionalString(c.Token),
		"username":               tfutil.OptionalString(c.Username),
		"password":               tfutil.OptionalString(c.Password),
		"context":                types.StringValue(c.Context),
		"namespace":              tfutil.OptionalString(c.Namespace),
	})
	return value, diags, nil
}
