package vim

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// observed is what the VIM itself says: a change of the connection can change it.
type observed struct {
	Status types.String `tfsdk:"status"`
	facts
}

// facts are what the last check of the VIM saw.
type facts struct {
	Endpoint      types.String   `tfsdk:"endpoint"`
	ServerVersion types.String   `tfsdk:"server_version"`
	APIGroups     tfutil.LongSet `tfsdk:"api_groups"`
	UserID        types.String   `tfsdk:"user_id"`
	ProjectID     types.String   `tfsdk:"project_id"`
	ProjectName   types.String   `tfsdk:"project_name"`
	Region        types.String   `tfsdk:"region"`
	Services      types.Map      `tfsdk:"services"`
}

// observedAttributes are the attributes that the VIM itself says.
func observedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"status": text("`REACHABLE` if the VIM answered the last check, `UNREACHABLE` if it did not or rejected the credentials, " +
			"`UNKNOWN` if the store has lost the record or its key, or the record was edited there; the next apply registers the VIM again."),
		"endpoint":       text("URL of the API server or of Keystone, also if it comes from a kubeconfig or a clouds.yaml."),
		"server_version": text("Version of the API server, for example `1.34.1`, or of Keystone's API."),
		"api_groups": schema.SetAttribute{
			Computed:            true,
			CustomType:          tfutil.LongSetType{SetType: types.SetType{ElemType: types.StringType}},
			ElementType:         types.StringType,
			MarkdownDescription: "API groups with their versions that the server serves, for example `apps/v1`. Empty for an OpenStack.",
		},
		"user_id":      text("Id of the OpenStack user that the credentials belong to. Null for Kubernetes."),
		"project_id":   text("Id of the OpenStack project. Null for Kubernetes."),
		"project_name": text("Name of the OpenStack project. Null for Kubernetes."),
		"region":       text("OpenStack region. Null for Kubernetes."),
		"services": schema.MapNestedAttribute{
			Computed: true,
			MarkdownDescription: "Services of the catalogue of an OpenStack by their type, for example `compute`, `network`, `image`, `orchestration`, `key-manager`, as far as they have an endpoint for region and interface. " +
				"Empty for Kubernetes.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"endpoint":     text("URL of the service."),
				"version":      text("Current version of its API, for example `2.1`, if the service reports it."),
				"microversion": text("Newest microversion, where the service has them."),
			}},
		},
	}
}

var serviceType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"endpoint": types.StringType, "version": types.StringType, "microversion": types.StringType,
}}

func unknownObserved() observed {
	o := observed{Status: types.StringUnknown()}
	o.facts = facts{
		Endpoint:      types.StringUnknown(),
		ServerVersion: types.StringUnknown(),
		APIGroups:     tfutil.LongSet{Set: types.SetUnknown(types.StringType)},
		UserID:        types.StringUnknown(),
		ProjectID:     types.StringUnknown(),
		ProjectName:   types.StringUnknown(),
		Region:        types.StringUnknown(),
		Services:      types.MapUnknown(serviceType),
	}
	return o
}

// fillAbsent fills in what a VIM of a type does not have.
func (o *observed) fillAbsent(of vnfm.VIMType) {
	none := observedOf(&vnfm.VIM{})
	switch of {
	case vnfm.VIMTypeKubernetes:
		o.UserID, o.ProjectID, o.ProjectName, o.Region, o.Services = none.UserID, none.ProjectID, none.ProjectName, none.Region, none.Services
	case vnfm.VIMTypeOpenStack:
		o.APIGroups = none.APIGroups
	}
}

func observedOf(v *vnfm.VIM) observed {
	o := observed{Status: types.StringValue(string(v.Status))}
	o.facts = facts{
		Endpoint:      tfutil.OptionalString(v.Endpoint),
		ServerVersion: tfutil.Version(v.ServerVersion),
		APIGroups:     tfutil.NewLongSet(v.APIGroups),
		Services:      types.MapValueMust(serviceType, map[string]attr.Value{}),
	}
	if v.Cloud == nil {
		return o
	}
	o.UserID, o.ProjectID = tfutil.OptionalString(v.Cloud.UserID), tfutil.OptionalString(v.Cloud.ProjectID)
	o.ProjectName, o.Region = tfutil.OptionalString(v.Cloud.ProjectName), tfutil.OptionalString(v.Cloud.Region)
	services := make(map[string]attr.Value, len(v.Cloud.Services))
	for kind, s := range v.Cloud.Services {
		services[kind] = types.ObjectValueMust(serviceType.AttrTypes, map[string]attr.Value{
			"endpoint": tfutil.OptionalString(s.Endpoint), "version": tfutil.Version(s.Version), "microversion": tfutil.OptionalString(s.Microversion),
		})
	}
	o.Services = types.MapValueMust(serviceType, services)
	return o
}

// fillUnknown fills what is not known yet of a plan.
func (o *observed) fillUnknown(v *vnfm.VIM) {
	now := observedOf(v)
	for _, pair := range []struct{ planned, seen *types.String }{
		{&o.Status, &now.Status}, {&o.Endpoint, &now.Endpoint}, {&o.ServerVersion, &now.ServerVersion},
		{&o.UserID, &now.UserID}, {&o.ProjectID, &now.ProjectID}, {&o.ProjectName, &now.ProjectName}, {&o.Region, &now.Region},
	} {
		if pair.planned.IsUnknown() {
			*pair.planned = *pair.seen
		}
	}
	if o.APIGroups.IsUnknown() {
		o.APIGroups = now.APIGroups
	}
	if o.Services.IsUnknown() {
		o.Services = now.Services
	}
}
