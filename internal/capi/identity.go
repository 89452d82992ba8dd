package capi

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// identities compares the Secrets that the objects of a cluster have their credentials of
// with the one that its application credential is in. Charts and templates of clusterctl
// are told its name; in a topology it is a variable that only the user knows, and in any
// form it may have been written down.
func (q *cloudQuestion) identities() {
	cloud := q.spec.OwnCredential()
	if cloud == nil {
		return
	}
	for _, o := range q.objects {
		if groupOf(stringAt(o, "apiVersion")) != groupInfrastructure {
			continue
		}
		switch spec, _ := o["spec"].(map[string]any); o["kind"] {
		case "OpenStackCluster":
			if spec["identityRef"] == nil {
				q.misled("its OpenStackCluster names no Secret")
			} else {
				q.identity("its OpenStackCluster", spec["identityRef"])
			}
		case "OpenStackMachineTemplate":
			// Without one of their own machines take the cluster's.
			machine := child(child(spec, "template"), "spec")
			q.identity("the template of "+q.machinesOf(stringAt(o, "metadata", "name")).String(), machine["identityRef"])
		}
	}
}

// identity looks at one reference to credentials. What cannot be told is taken to be right.
func (q *cloudQuestion) identity(who string, reference any) {
	cloud := q.spec.OwnCredential()
	ref, _ := reference.(map[string]any)
	name, cloudName := stringAt(ref, "name"), stringAt(ref, "cloudName")
	switch {
	case name != "" && name != cloud.SecretName:
		q.misled(fmt.Sprintf("%s names %q", who, name))
	case cloudName != "" && cloudName != cloud.CloudName:
		q.misled(fmt.Sprintf("%s takes the cloud %q of it", who, cloudName))
	}
}

func (q *cloudQuestion) misled(found string) {
	cloud := q.spec.OwnCredential()
	advice := "have identityRef name it"
	if q.spec.Topology != nil {
		advice = "give the variable of the class that becomes identityRef its name"
	}
	q.say(vnfm.SeverityWarning, q.form(), fmt.Sprintf("the application credential of workload cluster %q is in the Secret %q, cloud %q, and %s", q.spec.Name, cloud.SecretName, cloud.CloudName, found),
		advice+" and that of the cloud: machines and load balancers are made with what identityRef leads to")
}
