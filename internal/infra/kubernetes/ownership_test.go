package kubernetes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestOneSentencePerOwner: one sentence per owner names the first of its conflicting objects.
func TestOneSentencePerOwner(t *testing.T) {
	t.Parallel()
	var all []*vnfm.ConflictError
	for i := range 7 {
		all = append(all, &vnfm.ConflictError{Object: fmt.Sprintf("ConfigMap core/c%d (written by kubectl)", i), Owner: "no VNF instance", Detail: "remove it"})
	}
	all = append(all,
		&vnfm.ConflictError{Object: "Service core/amf", Owner: `VNF instance "core" (i-1)`, OwnerID: "i-1", Detail: "choose another package"},
		&vnfm.ConflictError{Object: "Service core/smf", Owner: `VNF instance "other" (i-2)`, OwnerID: "i-2", Detail: "choose another package"},
		&vnfm.ConflictError{Object: "Service core/upf", Owner: `VNF instance "other" (i-2)`, OwnerID: "i-2", Detail: "choose another package"},
	)
	var texts, owners []string
	for _, c := range perOwner(all) {
		texts, owners = append(texts, c.Error()), append(owners, c.OwnerID)
	}
	require.Equal(t, []string{
		"each of ConfigMap core/c0 (written by kubectl), ConfigMap core/c1 (written by kubectl), ConfigMap core/c2 (written by kubectl), ConfigMap core/c3 (written by kubectl), ConfigMap core/c4 (written by kubectl) and 2 more belongs to no VNF instance: remove it",
		`Service core/amf belongs to VNF instance "core" (i-1): choose another package`,
		`each of Service core/smf, Service core/upf belongs to VNF instance "other" (i-2): choose another package`,
	}, texts)
	require.Equal(t, []string{"", "i-1", "i-2"}, owners)
}
