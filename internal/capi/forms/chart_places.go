package forms

import "slices"

// chartPlace is the place of an argument in the values of a chart.
type chartPlace struct {
	// values are names of values, in order of preference. The first one that the chart knows is set.
	values []string
	// whole is a parent value that the chart passes on as a whole, so that its fields need no defaults; empty if there is none.
	whole string
}

// Names of values that the code compares or sets individually.
const (
	valueNodeTaints          = "nodeTaints"
	valueRegistrationTaints  = "kubeadmConfigSpec.joinConfiguration.nodeRegistration.taints"
	valueUnhealthyConditions = "healthCheck.spec.unhealthyConditions"
	valueExternalNetworkID   = "clusterNetworking.externalNetworkId"
	valueExternalFilter      = "clusterNetworking.externalNetworkFilter"
)

// chartPlaces are the places of arguments of the cluster.
var chartPlaces = map[string]chartPlace{
	"kubernetes_version":               {values: []string{"kubernetesVersion"}},
	"labels":                           {values: []string{"clusterLabels"}},
	"annotations":                      {values: []string{"clusterAnnotations"}},
	"network.pod_cidrs":                {values: []string{"kubeNetwork.pods.cidrBlocks"}},
	"network.service_cidrs":            {values: []string{"kubeNetwork.services.cidrBlocks"}},
	"network.service_domain":           {values: []string{"kubeNetwork.serviceDomain"}},
	"network.api_server_port":          {values: []string{"kubeNetwork.apiServerPort"}, whole: "kubeNetwork"},
	"network.internal":                 {values: []string{"clusterNetworking.internalNetwork.networkFilter"}},
	"network.internal_subnet":          {values: []string{"clusterNetworking.internalNetwork.subnetFilter"}},
	"network.external":                 {values: []string{valueExternalNetworkID}},
	"openstack.application_credential": {values: []string{"cloudCredentialsSecretName"}},
}

// machinePlaces are the places, below controlPlane and nodeGroups, of arguments that control plane and node groups share.
var machinePlaces = map[string]chartPlace{
	"flavor":                              {values: []string{"machineFlavor"}},
	"labels":                              {values: []string{"nodeLabels"}},
	"replicas":                            {values: []string{"machineCount"}},
	"root_volume":                         {values: []string{"machineRootVolume"}},
	"networks":                            {values: []string{"machineNetworking.ports"}},
	"health_check.enabled":                {values: []string{"healthCheck.enabled"}},
	"health_check.max_unhealthy":          {values: []string{"healthCheck.spec.maxUnhealthy"}},
	"health_check.node_startup_timeout":   {values: []string{"healthCheck.spec.nodeStartupTimeout"}},
	"health_check.unhealthy_timeout":      {values: []string{valueUnhealthyConditions, "healthCheck.spec.unhealthyTimeout"}},
	"deletion.node_drain_timeout":         {values: []string{"nodeDrainTimeout"}},
	"deletion.node_volume_detach_timeout": {values: []string{"nodeVolumeDetachTimeout"}},
	"deletion.node_deletion_timeout":      {values: []string{"nodeDeletionTimeout"}},
	argumentRolloutAfter:                  {values: []string{"rolloutAfter"}},
}

// controlPlanePlaces are the places of arguments of the control plane alone.
var controlPlanePlaces = map[string]chartPlace{
	"failure_domains": {values: []string{"failureDomains"}},
}

// groupPlaces are the places of arguments of node groups alone.
var groupPlaces = map[string]chartPlace{
	"min_replicas":            {values: []string{"machineCountMin"}, whole: "autoscale"},
	"max_replicas":            {values: []string{"machineCountMax"}, whole: "autoscale"},
	"failure_domain":          {values: []string{"failureDomain"}},
	"taints":                  {values: []string{valueNodeTaints, valueRegistrationTaints}, whole: "kubeadmConfigSpec"},
	"rollout.type":            {values: []string{"rolloutStrategy.type"}},
	"rollout.max_surge":       {values: []string{"rolloutStrategy.rollingUpdate.maxSurge"}},
	"rollout.max_unavailable": {values: []string{"rolloutStrategy.rollingUpdate.maxUnavailable"}},
}

// argumentRolloutAfter is an argument of the cluster that becomes a value of the control plane and of each node group.
const argumentRolloutAfter = "rollout_after"

// find returns the name of the first value that a chart knows; empty if there is none.
func (p chartPlace) find(known func(name string) bool) string {
	if i := slices.IndexFunc(p.values, known); i >= 0 {
		return p.values[i]
	}
	if p.whole != "" && known(p.whole) {
		return p.values[len(p.values)-1]
	}
	return ""
}
