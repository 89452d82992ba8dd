package instance

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestEveryArgumentIsRead: each argument reaches the specification of the instance, its
// operations or its termination.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	for _, writeOnly := range []bool{false, true} {
		set := map[string]any{"lock_timeout": "30s", "credentials_sink.timeout": "30s", "termination.graceful_timeout": "30s"}
		ignored := []string{
			"id", "status", "generation", "drift", "operations", "changes", "vnfd_id", "scale_status", "vnfc_counts", "registered_vim_id", "server_dry_run", "timeouts",
			"credentials_sink.headers_wo_version", "additional_params_wo_version",
		}
		if writeOnly {
			ignored = append(ignored, "credentials_sink.headers")
		} else {
			set["credentials_sink.headers_wo"] = nil
		}
		modeltest.EachArgument(t, modeltest.Full(t, NewResource(), set), ignored, func(m *model, diags *diag.Diagnostics) any {
			ctx := t.Context()
			spec, known := m.Spec(ctx, nil, diags)
			if !known {
				t.Error("the specification is not known")
			}
			secrets := m.Conceal(ctx, m, &spec, diags)
			return []any{spec, secrets, tfutil.GoDuration(m.LockTimeout), m.OnUnreachable, m.TerminateSpec(ctx, diags)}
		})
	}
}

// TestRecordRoundTrip: what a record and a specification both have goes from the record
// through the model into the specification unchanged.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	record := modeltest.Filled[vnfm.Instance]()
	var diags diag.Diagnostics
	m := modeltest.Decode[model](t, modeltest.Full(t, NewResource(), map[string]any{
		"lock_timeout": "30s", "credentials_sink": nil, "termination": nil, "additional_params": nil, "additional_params_wo": nil,
		"ext_virtual_links": nil, "ext_managed_virtual_links": nil, "vim_connections": nil, "timeouts": nil,
	}))
	m.SetRecord(t.Context(), &record, &diags)
	spec, known := m.Spec(t.Context(), nil, &diags)
	require.True(t, known)
	require.Empty(t, diags)
	wanted, got := reflect.ValueOf(record), reflect.ValueOf(spec)
	for i := range got.NumField() {
		field := got.Type().Field(i)
		before := wanted.FieldByName(field.Name)
		switch field.Name {
		case "Cluster", "Connections", "Links", "Arguments":
			// The configuration has these alone: an import leaves them out.
			continue
		}
		if !before.IsValid() || before.Type() != field.Type {
			continue
		}
		if diff := cmp.Diff(before.Interface(), got.Field(i).Interface()); diff != "" {
			t.Errorf("%s (-record +specification):\n%s", field.Name, diff)
		}
	}
}

// TestViews: each field of a VNFC and of an operation reaches its data source.
func TestViews(t *testing.T) {
	t.Parallel()
	modeltest.EachField(t, nil, func(c vnfm.VNFC) any { return newVNFCView(&c) })
	// What is in the report of a failure is for `operations show --report`, and the data source is of one instance.
	modeltest.EachField(t, []string{"InstanceID", "Instance", "Notes", "ReportedAt"}, func(occ vnfm.Operation) any {
		v, err := newOperationView(&occ)
		require.NoError(t, err)
		return v
	})
}
