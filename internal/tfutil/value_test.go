package tfutil_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestVersion: versions have no leading v.
func TestVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]types.String{
		"": types.StringNull(), "v1.34.1": types.StringValue("1.34.1"), "1.34.1": types.StringValue("1.34.1"), "v3.14": types.StringValue("3.14"),
		"vanilla": types.StringValue("vanilla"), "v": types.StringValue("v"),
	} {
		assert.Equal(t, want, tfutil.Version(version), version)
	}
}

// TestStringSet: a set has each element once.
func TestStringSet(t *testing.T) {
	t.Parallel()
	assert.Equal(t, tfutil.StringSet([]string{"a", "b"}), tfutil.StringSet([]string{"b", "a", "b"}))
	assert.Equal(t, types.SetValueMust(types.StringType, nil).Elements(), tfutil.StringSet(nil).Elements())
	assert.False(t, tfutil.StringSet(nil).IsNull())
}
