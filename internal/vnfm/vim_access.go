package vnfm

import (
	"fmt"
	"maps"
	"slices"
)

// PerRunSettings is where a connection is configured that comes with each run, for errors.
const PerRunSettings = "its entry in the argument vims of the provider"

// VIMAccess is how one run reaches a VIM: a connection with its credentials, which are in no
// record. Exactly one of Kubernetes and OpenStack is set, as Type says, unless it is Unknown.
type VIMAccess struct {
	Type        VIMType
	Kubernetes  *KubernetesConnection
	OpenStack   *OpenStackConnection
	Credentials Credentials
	// Unknown says that a plan does not know the connection yet.
	Unknown bool
}

// VIMAccesses are the connections that come with a run.
type VIMAccesses struct {
	// Entries have the id or the name of a VIM as key.
	Entries map[string]VIMAccess
	// Unknown says that a plan does not know yet which entries there are.
	Unknown bool
}

// Any reports whether there may be an entry.
func (a VIMAccesses) Any() bool { return a.Unknown || len(a.Entries) > 0 }

// Names are the keys of the entries, sorted.
func (a VIMAccesses) Names() []string { return slices.Sorted(maps.Keys(a.Entries)) }

// Find returns the entry of a VIM, by its id or else its name.
func (a VIMAccesses) Find(id, name string) (VIMAccess, bool) {
	if a.Unknown {
		return VIMAccess{Unknown: true}, true
	}
	if found, ok := a.Entries[id]; ok && id != "" {
		return found, true
	}
	found, ok := a.Entries[name]
	return found, ok && name != ""
}

// AccessUnknownError says that the connection of a VIM is not known in this plan.
type AccessUnknownError struct{ VIM string }

func (e *AccessUnknownError) Error() string {
	return fmt.Sprintf("the connection to VIM %q, %s, has values that are not known before the apply", e.VIM, PerRunSettings)
}

// KnownVIM is what Terraform's state keeps of a VIM on which an instance is.
type KnownVIM struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// ClusterUID is that of VIM; empty when it was not seen.
	ClusterUID string `json:"cluster_uid,omitempty"`
}

// HasConnection reports whether the specification says where the VIM is.
func (s *VIMSpec) HasConnection() bool { return s.Kubernetes != nil || s.OpenStack != nil }

// NeedsCredentials reports whether the connection needs Credentials, which are not read anywhere else.
func (s *VIMSpec) NeedsCredentials() bool {
	return s.Kubernetes == nil || s.Kubernetes.KubeconfigRef == nil && len(s.Kubernetes.UsesMachine()) == 0
}

// CheckSame refuses another cluster or project than the one that was known.
func (k KnownVIM) CheckSame(clusterUID string) error {
	if k.ClusterUID == "" || clusterUID == "" || k.ClusterUID == clusterUID {
		return nil
	}
	return &OtherClusterError{VIM: k.Name}
}

// OtherClusterError says that a connection leads to another cluster or project than before.
type OtherClusterError struct{ VIM string }

func (e *OtherClusterError) Error() string {
	return fmt.Sprintf("VIM %q now leads to another cluster or project than the one on which the instances of Terraform's state are: correct %s", e.VIM, PerRunSettings)
}

// VIMIDs are the ids of the VIMs that an instance is on, or needs, each once.
func (i *Instance) VIMIDs() []string {
	ids := []string{i.VIMID}
	for _, c := range i.Connections {
		ids = append(ids, c.VIMID)
	}
	if i.Cluster != nil && i.Cluster.OpenStack != nil {
		ids = append(ids, i.Cluster.OpenStack.VIMID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
