package capi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Package implements vnfm.ClusterDriver.
func (d *Driver) Package(spec *vnfm.ClusterSpec) (*vnfm.Package, vnfm.Problems) {
	var ps vnfm.Problems
	objects, unsettled := forms.Render(spec, &ps)
	cloud.CheckSecret(spec, objects, &ps)
	if ps.HasErrors() {
		return nil, ps
	}
	if spec.Paused != nil {
		setPaused(objects, *spec.Paused)
	}
	text, err := forms.Encode(objects)
	if err != nil {
		ps.Errorf("", 0, 0, "%v", err)
		return nil, ps
	}
	// The digest also covers the parts of a cluster that are not objects.
	sum := digest.Of(slices.Concat(text, cloud.CredentialText(spec.OpenStack), forms.Salt(spec)))
	name := "workload-cluster/" + spec.Name
	return &vnfm.Package{
		ID: vnfm.PackageID(name, sum), Name: name, Digest: sum,
		Descriptor: &vnfm.Descriptor{
			ID: name, DefaultFlavourID: flavourID,
			Flavours: []vnfm.Flavour{{ID: flavourID}},
		},
		KubernetesFiles: []string{forms.ManifestFile},
		Content:         forms.File(text),
		Later:           unsettled.Later, NamesLater: unsettled.NamesLater,
	}, ps
}

// CarryOver implements vnfm.ClusterDriver.
func (d *Driver) CarryOver(wanted, present *vnfm.ClusterSpec) {
	forms.KeepTemplateNames(wanted, present)
	keepRotationTrigger(wanted, present)
}

// keepRotationTrigger keeps the trigger of the present application credential if the wanted one
// has none: removing the argument must not rotate the credential.
func keepRotationTrigger(wanted, present *vnfm.ClusterSpec) {
	if present == nil {
		return
	}
	now, before := wanted.OwnCredential(), present.OwnCredential()
	if now == nil || before == nil || now.RotationTrigger != "" {
		return
	}
	cloud, kept := *wanted.OpenStack, *now
	kept.RotationTrigger = before.RotationTrigger
	cloud.Credential, wanted.OpenStack = &kept, &cloud
}

// flavourID is the id of the only deployment flavour of a workload cluster.
const flavourID = "default"

// annotationReadyPath is the annotation with the readiness rule of an object.
const annotationReadyPath = vnfm.LabelPrefix + "ready-jsonpath"

// setPaused pauses or resumes the cluster. Cluster API does not reconcile the objects of a paused cluster,
// so that their readiness is their existence; any other rule would wait for ever.
func setPaused(objects []map[string]any, paused bool) {
	for _, o := range objects {
		apiVersion, _ := o["apiVersion"].(string)
		apiGroup, _, _ := strings.Cut(apiVersion, "/")
		if apiGroup != group && !strings.HasSuffix(apiGroup, "."+group) {
			continue
		}
		if paused {
			meta := forms.Child(o, "metadata")
			forms.Child(meta, "annotations")[annotationReadyPath] = fmt.Sprintf("{.metadata.name}=%v", meta["name"])
		}
		if apiGroup == group && o["kind"] == "Cluster" {
			forms.Child(o, "spec")["paused"] = paused
		}
	}
}
