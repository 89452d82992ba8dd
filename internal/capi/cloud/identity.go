package cloud

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkIdentities compares the Secrets to which the objects of a cluster refer for credentials with
// the Secret of its application credential. Charts and templates of clusterctl get the name of that
// Secret; a topology has a variable that only the user knows. Any form may have a fixed name.
func (q *cloudCheck) checkIdentities() {
	cloud := q.spec.OwnCredential()
	if cloud == nil {
		return
	}
	for _, o := range q.objects {
		if forms.GroupOf(forms.StringAt(o, "apiVersion")) != forms.GroupInfrastructure {
			continue
		}
		switch spec, _ := o["spec"].(map[string]any); o["kind"] {
		case "OpenStackCluster":
			if spec["identityRef"] == nil {
				q.warnIdentity("its OpenStackCluster names no Secret")
			} else {
				q.checkIdentity("its OpenStackCluster", spec["identityRef"])
			}
		case "OpenStackMachineTemplate":
			// Machines without an identityRef use the one in the OpenStackCluster.
			machine := forms.Child(forms.Child(spec, "template"), "spec")
			q.checkIdentity("the template of "+q.machinesOf(forms.StringAt(o, "metadata", "name")).String(), machine["identityRef"])
		}
	}
}

// checkIdentity checks one reference to credentials. Unknown values are accepted.
func (q *cloudCheck) checkIdentity(who string, reference any) {
	cloud := q.spec.OwnCredential()
	ref, _ := reference.(map[string]any)
	name, cloudName := forms.StringAt(ref, "name"), forms.StringAt(ref, "cloudName")
	switch {
	case name != "" && name != cloud.SecretName:
		q.warnIdentity(fmt.Sprintf("%s names %q", who, name))
	case cloudName != "" && cloudName != cloud.CloudName:
		q.warnIdentity(fmt.Sprintf("%s takes the cloud %q of it", who, cloudName))
	}
}

func (q *cloudCheck) warnIdentity(found string) {
	cloud := q.spec.OwnCredential()
	advice := "have identityRef name it"
	if q.spec.Topology != nil {
		advice = "give the variable of the class that becomes identityRef its name"
	}
	q.add(vnfm.SeverityWarning, q.form(), fmt.Sprintf("the application credential of workload cluster %q is in the Secret %q, cloud %q, and %s", q.spec.Name, cloud.SecretName, cloud.CloudName, found),
		advice+" and that of the cloud: machines and load balancers are made with what identityRef leads to")
}
