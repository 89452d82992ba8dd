package instance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*OperationsDataSource)(nil)

// OperationsDataSource is the data source vnf_operations.
type OperationsDataSource struct{ base.DataSource }

// NewOperationsDataSource returns the data source vnf_operations.
func NewOperationsDataSource() datasource.DataSource {
	return &OperationsDataSource{base.DataSource{Type: "vnf_operations"}}
}

// operationsModel is the data source vnf_operations as Terraform has it.
type operationsModel struct {
	InstanceID types.String    `tfsdk:"instance_id"`
	Operations []operationView `tfsdk:"operations"`
}

// operationView is one LCM operation occurrence.
type operationView struct {
	ID             types.String      `tfsdk:"id"`
	Type           types.String      `tfsdk:"type"`
	State          types.String      `tfsdk:"state"`
	Run            types.String      `tfsdk:"run"`
	Parameters     types.String      `tfsdk:"parameters"`
	Progress       types.String      `tfsdk:"progress"`
	Error          types.String      `tfsdk:"error"`
	Attempts       types.Int64       `tfsdk:"attempts"`
	StartedAt      timetypes.RFC3339 `tfsdk:"started_at"`
	StateEnteredAt timetypes.RFC3339 `tfsdk:"state_entered_at"`
}

// Schema implements datasource.DataSource.
func (d *OperationsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	instant := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, CustomType: timetypes.RFC3339Type{}, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the LCM operation occurrences of a VNF instance, oldest first.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{
				MarkdownDescription: "Id of the VNF instance.", Required: true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"operations": schema.ListNestedAttribute{
				MarkdownDescription: "The operations.",
				Computed:            true,
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id":               text("Id of the operation occurrence."),
					"type":             text("`INSTANTIATE`, `SCALE`, `SCALE_TO_LEVEL`, `CHANGE_FLAVOUR`, `OPERATE`, `HEAL`, `CHANGE_VNFPKG`, `CHANGE_EXT_CONN`, `MODIFY_INFO` or `TERMINATE`."),
					"state":            text("`PROCESSING`, `COMPLETED`, `FAILED_TEMP`, `ROLLING_BACK`, `ROLLED_BACK` or `FAILED`."),
					"run":              text("Who has run it last: user, host, process and the page of the CI run."),
					"parameters":       text("Parameters of the request as JSON, without secrets."),
					"progress":         text("Last step or wait of an unfinished operation."),
					"error":            text("Error of a failed operation."),
					"attempts":         schema.Int64Attribute{MarkdownDescription: "Number of times that the operation was started or resumed.", Computed: true},
					"started_at":       instant("Time of the start (RFC 3339, UTC)."),
					"state_entered_at": instant("Time of the entry into the present state (RFC 3339, UTC)."),
				}},
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *OperationsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m operationsModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &m)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := m.InstanceID.ValueString()
	occs, err := manager.Operations(ctx, id)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "List the Operations of", fmt.Sprintf("VNF Instance %q", id), err, path.Root("instance_id"))
		return
	}
	m.Operations = make([]operationView, 0, len(occs))
	for i := range occs {
		v, err := newOperationView(&occs[i])
		if err != nil {
			tfutil.AddError(&resp.Diagnostics, "Read the Operations of", fmt.Sprintf("VNF Instance %q", id), err, path.Empty())
			return
		}
		m.Operations = append(m.Operations, v)
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &m)...)
}

func newOperationView(occ *vnfm.Operation) (operationView, error) {
	params, err := json.Marshal(occ.Parameters)
	if err != nil {
		return operationView{}, err
	}
	return operationView{
		ID:             types.StringValue(occ.ID),
		Type:           types.StringValue(string(occ.Type)),
		State:          types.StringValue(string(occ.State)),
		Run:            tfutil.OptionalString(occ.Run),
		Parameters:     types.StringValue(string(params)),
		Progress:       tfutil.OptionalString(occ.Progress),
		Error:          tfutil.OptionalString(occ.Error),
		Attempts:       types.Int64Value(int64(occ.Attempts)),
		StartedAt:      tfutil.Instant(occ.StartedAt),
		StateEnteredAt: tfutil.Instant(occ.StateEnteredAt),
	}, nil
}
