package tfutil_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    any
		want  time.Duration
		error string
	}{
		"null":          {in: nil},
		"unknown":       {in: tftypes.UnknownValue},
		"seconds":       {in: "30s", want: 30 * time.Second},
		"fractions":     {in: "1h1.5s", want: time.Hour + 1500*time.Millisecond},
		"no unit":       {in: "30", error: "Attribute wait must be a duration such as 30s or 5m, got: 30"},
		"a sign":        {in: "-5m", want: -5 * time.Minute, error: "Attribute wait must be a duration such as 30s or 5m, got: -5m"},
		"too long":      {in: "99999999999h", error: "Attribute wait must be a duration such as 30s or 5m, got: 99999999999h"},
		"not a number":  {in: "soon", error: "Attribute wait must be a duration such as 30s or 5m, got: soon"},
		"an empty text": {in: "", error: "Attribute wait must be a duration such as 30s or 5m, got: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := tfutil.DurationType{}.ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.String, c.in))
			if err != nil {
				t.Fatal(err)
			}
			d, ok := v.(tfutil.Duration)
			if !ok || d.Duration() != c.want {
				t.Errorf("%v is %s, not %s", c.in, d.Duration(), c.want)
			}
			var resp xattr.ValidateAttributeResponse
			d.ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{Path: path.Root("wait")}, &resp)
			got := ""
			for _, e := range resp.Diagnostics {
				got += e.Detail()
			}
			if got != c.error {
				t.Errorf("%q, not %q", got, c.error)
			}
			if (c.in == nil) != v.IsNull() || (c.in == tftypes.UnknownValue) != v.IsUnknown() || !v.Equal(d) || v.Equal(types.StringValue("30s")) {
				t.Errorf("%v: null %t, unknown %t", c.in, v.IsNull(), v.IsUnknown())
			}
		})
	}
}
