package translate_test

// osContainer is a VNFD of one VDU whose container has these properties.
func osContainer(properties string) string {
	return sol001(webVDU + `    nginx:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties: { ` + properties + ` }
` + nginxImage)
}

// tackerVDU is a VNFD of Tacker's legacy form with these properties of its VDU.
func tackerVDU(properties string) string {
	return `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
topology_template:
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties: { ` + properties + ` }
`
}

// ruled is a VNFD of one VDU with this policy.
func ruled(policy string) string {
	return sol001(webVDU + nginx + "  policies: [ { rule: { " + policy + " } } ]\n")
}

// badTranslations are VNFDs that cannot be translated, with all expected problems.
var badTranslations = []struct {
	name, vnfd, want string
	params           map[string]any
}{
	{
		name: "no image",
		vnfd: sol001(webVDU + "    nginx: { type: tosca.nodes.nfv.Vdu.OsContainer }\n"),
		want: `v.yaml:11:5: the container "nginx" has no image: give it an artifact of type tosca.artifacts.nfv.SwImage whose file is the reference of an image, or whose properties have its name and version`,
	},
	{
		name: "an image in the package that has no name",
		vnfd: osContainerImage(`../Images/web.tar, properties: { name: Web Server }`),
		want: `v.yaml:11:5: the image "Web Server" of the container "nginx" is not a reference of an image: a reference looks like registry.example.com/core/amf:1.0.0`,
	},
	{
		name: "CPUs that are no number",
		vnfd: osContainer(`requested_cpu_resources: 250m`),
		want: `v.yaml:13:46: node_templates.nginx.properties.requested_cpu_resources must be a non-negative number, not "250m"`,
	},
	{
		name: "memory of an unknown unit",
		vnfd: osContainer(`requested_memory_resources: 128Mi`),
		want: `v.yaml:13:49: node_templates.nginx.properties.requested_memory_resources is "128Mi"; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes`,
	},
	{
		name: "limit below request",
		vnfd: osContainer(`requested_cpu_resources: 500, cpu_resource_limit: 250, requested_memory_resources: 2 GB, memory_resource_limit: 1 GB`),
		want: `v.yaml:13:71: the container nginx may use less than it requests: cpu_resource_limit is 250 and requested_cpu_resources is 500
v.yaml:13:133: the container nginx may use less than it requests: memory_resource_limit is 1 GB and requested_memory_resources is 2 GB`,
	},
	{
		name: "ports",
		vnfd: osContainer(`ports: [ "80/quic", 70000, { name: http }, { name: Http_Port, port: 80 } ]`),
		want: `v.yaml:13:30: node_templates.nginx.properties.ports[0] must be a port such as 80 or 53/udp, not "80/quic"
v.yaml:13:41: node_templates.nginx.properties.ports[1] must be a port such as 80 or 53/udp, not "70000"
v.yaml:13:48: node_templates.nginx.properties.ports[2] has no port`,
	},
	{
		name: "name of a port",
		vnfd: osContainer(`ports: [ { name: Http_Port, port: 80 } ]`),
		want: `v.yaml:11:5: "Http_Port" cannot be the name of a port: must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-); rename it in the VNFD`,
	},
	{
		name: "huge pages",
		vnfd: osContainer(`huge_pages_resources: [ { hugepage_size: 2 MiB, requested_size: 3 MiB }, { requested_size: 2 MiB } ]`),
		want: `v.yaml:13:85: node_templates.nginx.properties.huge_pages_resources[0].requested_size is 3 MiB, which is not a multiple of the page size 2 MiB
v.yaml:13:94: node_templates.nginx.properties.huge_pages_resources[1] has no hugepage_size`,
	},
	{
		name: "huge pages alone",
		vnfd: osContainer(`huge_pages_resources: [ { hugepage_size: 2 MiB, requested_size: 4 MiB } ]`),
		want: `v.yaml:11:5: the container "nginx" has huge pages and neither CPUs nor memory: Kubernetes gives huge pages only to a container that asks for CPUs or memory as well`,
	},
	{
		name: "extended resources",
		vnfd: osContainer(`extended_resource_requests: [ { extended_resource: fpga, amount: 1 }, { extended_resource: example.com/gpu, amount: 0 } ]`),
		want: `v.yaml:13:72: node_templates.nginx.properties.extended_resource_requests[0] does not name an extended resource; such a name has a domain, for example intel.com/sriov
v.yaml:13:91: node_templates.nginx.properties.extended_resource_requests[1] must have a positive amount of example.com/gpu`,
	},
	{
		name: "a resource of Kubernetes itself",
		vnfd: osContainer(`extended_resource_requests: [ { extended_resource: requests.kubernetes.io/cpu, amount: 1 } ]`),
		want: `v.yaml:11:5: the container "nginx" asks for "requests.kubernetes.io/cpu", which cannot be the name of an extended resource: the name has the domain of its vendor, for example intel.com/sriov`,
	},
	{
		name: "pinned CPUs in parts",
		vnfd: osContainer(`requested_cpu_resources: 1500, requested_memory_resources: 1 GB, cpu_pinning_requirements: { virtual_cpu_pinning_policy: static }`),
		want: `v.yaml:11:5: the container "nginx" requests exclusive CPUs, but asks for 1500m: only whole CPUs can be exclusive`,
	},
	{
		name: "pinned CPUs without memory",
		vnfd: osContainer(`requested_cpu_resources: 1000, cpu_pinning_requirements: { cpu_pinning_policy: static }`),
		want: `v.yaml:11:5: the container "nginx" prevents exclusive CPUs for "nginx": every container of the VDU must request as much memory as it may use`,
	},
	{
		name: "pinning policy",
		vnfd: osContainer(`cpu_pinning_requirements: { virtual_cpu_pinning_policy: fixed }`),
		want: `v.yaml:13:77: node_templates.nginx.properties.cpu_pinning_requirements.virtual_cpu_pinning_policy must be static or dynamic, not "fixed"`,
	},
	{
		name: "settings",
		vnfd: osContainer(`config: "user secret", env: { "a b": "1" }`),
		want: `v.yaml:13:29: node_templates.nginx.properties.config: line 1 of the text has no colon; each line is a key and a value, as in "key: value"
v.yaml:13:58: node_templates.nginx.properties.env.a b: "a b" cannot be the name of an environment variable`,
	},
	{
		name: "kinds that contradict",
		vnfd: sol001(`    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }, mcio_identification_data: { name: web, type: Deployment }, is_num_of_instances_cluster_based: true }
      requirements: [ container: nginx ]
` + nginx),
		want: `v.yaml:9:199: the VDU web runs on every node (is_num_of_instances_cluster_based), which a Deployment does not; set its mcio_identification_data.type to DaemonSet`,
	},
	{
		name: "unknown kind",
		vnfd: sol001(`    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }, mcio_identification_data: { name: web, type: Job } }
      requirements: [ container: nginx ]
` + nginx),
		want: `v.yaml:9:150: the VDU web is a "Job"; its containers can run in a DaemonSet, Deployment, Pod or StatefulSet`,
	},
	{
		name: "storage of its own in a Deployment",
		vnfd: sol001(`    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }, mcio_identification_data: { name: web, type: Deployment } }
      requirements: [ container: nginx, virtual_storage: disk ]
    disk: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { virtual_block_storage_data: { size_of_storage: 1 GB } } }
` + nginx),
		want: `v.yaml:7:5: VDU "web" is a Deployment and has storage for each VNFC: only a StatefulSet gives each VNFC storage of its own; per_vnfc_instance: false makes the storage a shared one`,
	},
	{
		name: "storages",
		vnfd: sol001(`    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
      requirements: [ container: nginx, virtual_storage: empty, virtual_storage: bucket, virtual_storage: odd ]
    empty: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { per_vnfc_instance: false } }
    bucket: { type: tosca.nodes.nfv.Vdu.VirtualObjectStorage, properties: { per_vnfc_instance: false, virtual_object_storage_data: { max_size_of_storage: 1 GB } } }
    odd: { type: tosca.nodes.nfv.Vdu.VirtualBlockStorage, properties: { per_vnfc_instance: false, virtual_block_storage_data: { size_of_storage: 1 GB, vdu_storage_requirements: { access_mode: rw, mount_path: data } } } }
` + nginx),
		want: `v.yaml:11:5: the storage "empty" has no size: give it size_of_storage
v.yaml:12:5: the storage "bucket" is an object storage, which Kubernetes does not support: use a VirtualBlockStorage or a VirtualFileStorage
v.yaml:13:5: the storage "odd" has the access_mode "rw": it can be ReadWriteOnce, ReadWriteOncePod, ReadOnlyMany, ReadWriteMany
v.yaml:13:5: the storage "odd" has the mount_path "data": it must begin with / and have no colon`,
	},
	{
		name: "name",
		vnfd: sol001(`    5g:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: 5g core, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
      requirements: [ container: nginx ]
` + nginx),
		want: `v.yaml:7:5: the VDU "5g core" cannot give a Kubernetes object its name: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'); rename it in the VNFD`,
	},
	{
		name: "a VDU without containers",
		vnfd: sol001(webVDU + nginx + `    db:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: db, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
`),
		want: `v.yaml:14:5: the VNFD describes no container of VDU "db": package "p" lists no Kubernetes manifest, so that the VNFD must describe every VDU`,
	},
	{
		name:   "a mapping to a kind that no VDU can be",
		vnfd:   sol001(webVDU + nginx),
		params: map[string]any{"vdu_mapping": map[string]any{"web": map[string]any{"kind": "ReplicaSet", "name": "web"}}},
		want:   `additional parameter "vdu_mapping" gives VDU "web" the kind "ReplicaSet": a VDU whose containers the VNFD describes can be a DaemonSet, a Deployment, a Pod, a StatefulSet`,
	},
	{
		name: "scope",
		vnfd: ruled(`type: tosca.policies.nfv.AntiAffinityRule, targets: [ web ], properties: { scope: rack }`),
		want: `v.yaml:14:17: the policy "rule" has the scope "rack": a placement on Kubernetes has one of the scopes cis_node, container_namespace, network_link_and_node, nfvi_node, nfvi_pop, zone, zone_group`,
	},
	{
		name: "a scope that is the same for all",
		vnfd: ruled(`type: tosca.policies.nfv.AntiAffinityRule, targets: [ web ], properties: { scope: nfvi_pop }`),
		want: `v.yaml:14:17: the policy "rule" cannot be satisfied: all VNFCs of an instance have the same nfvi_pop: remove the policy, or give it another scope`,
	},
	{
		name: "load without a measure",
		vnfd: ruled(`type: tosca.policies.tacker.Scaling, targets: [ web ], properties: { min_instances: 1, max_instances: 2, target_cpu_utilization_percentage: 50 }`),
		want: `v.yaml:11:5: the container "nginx" requests no CPU, so that the load of VDU "web" cannot be measured: the target of a scaling policy is a share of the CPUs that all containers of the VDU request`,
	},
	{
		name: "limits of a scaling policy",
		vnfd: ruled(`type: tosca.policies.tacker.Scaling, targets: [ web ], properties: { min_instances: 3, max_instances: 2 }`),
		want: `v.yaml:14:127: the policy rule allows 2 at most (max_instances) and 3 at least (min_instances)`,
	},
	{
		name: "legacy ports and labels",
		vnfd: tackerVDU(`mapping_ports: [ "80:x" ], labels: [ app ], service_type: ExternalName, vnfcs: { web: { image: nginx } }`),
		want: `v.yaml:6:58: node_templates.VDU1.properties.labels[0] must be a key and a value, as in "key: value", not "app"
v.yaml:6:38: node_templates.VDU1.properties.mapping_ports[0] must be one port or two, such as 80, 80:8080 or 53:5353/udp, not "80:x"`,
	},
	{
		name: "legacy service type",
		vnfd: tackerVDU(`mapping_ports: [ "80" ], service_type: ExternalName, vnfcs: { web: { image: nginx } }`),
		want: `v.yaml:6:60: node_templates.VDU1.properties.service_type must be ClusterIP, NodePort or LoadBalancer, not "ExternalName"`,
	},
	{
		name: "legacy container",
		vnfd: tackerVDU(`vnfcs: { web: { image: nginx, memory: 1 GB, mem_size: much } }`),
		want: `v.yaml:6:51: node_templates.VDU1.properties.vnfcs.web.memory is not known; a container has args, command, config, image, mem_size, num_cpus and ports
v.yaml:6:75: node_templates.VDU1.properties.vnfcs.web.mem_size is "much"; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes`,
	},
	{
		name: "legacy VDU that is a server",
		vnfd: tackerVDU(`image: cirros, flavor: m1.tiny`),
		want: `v.yaml:4:5: the file is older than SOL001: the node VDU1 has the type tosca.nodes.nfv.VDU.Tacker of the TOSCA NFV profile; of that, VDUs of containers are read alone (tosca.nodes.nfv.VDU.Tacker with vnfcs); a VNF manager takes VNF packages, whose VNFD is a TOSCA service template (SOL001)`,
	},
}

// osContainerImage is a VNFD of one VDU whose container has this artifact.
func osContainerImage(file string) string {
	return sol001(webVDU + `    nginx:
      type: tosca.nodes.nfv.Vdu.OsContainer
      artifacts: { image: { type: tosca.artifacts.nfv.SwImage, file: ` + file + ` } }
`)
}
