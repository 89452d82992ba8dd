package translate_test

// translations are VNFDs with the expected objects; some limits the comparison to the objects in want.
var translations = []struct {
	name, vnfd string
	some       bool
	want       map[string]string
}{
	{
		name: "smallest",
		vnfd: sol001(webVDU + nginx),
		want: map[string]string{"apps/v1/Deployment web": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app.kubernetes.io/name: web } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: web } }
  template:
    metadata: { labels: { app.kubernetes.io/name: web } }
    spec: { containers: [ { name: nginx, image: "registry.example.com/nginx:1.0" } ] }
`},
	},
	{
		name: "Tacker's legacy form",
		vnfd: `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
metadata: { template_name: web }
topology_template:
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties:
        namespace: default
        mapping_ports: [ "80:8080", "53/udp" ]
        labels: [ "app: webserver" ]
        service_type: NodePort
        vnfcs:
          web_server:
            num_cpus: 0.2
            mem_size: 100 MB
            image: nginx
            command: [ nginx ]
            args: [ -g, daemon off ]
            ports: [ "8080" ]
            config: |
              param0: key1
              param1: http://a:80
    CP1:
      type: tosca.nodes.nfv.CP.Tacker
      requirements: [ virtualLink: { node: VL1 }, virtualBinding: { node: VDU1 } ]
    VL1:
      type: tosca.nodes.nfv.VL
      properties: { network_name: n6, vendor: Tacker }
  policies:
    - SP1:
        type: tosca.policies.tacker.Scaling
        targets: [ VDU1 ]
        properties: { min_instances: 1, max_instances: 10, target_cpu_utilization_percentage: 50 }
`,
		want: map[string]string{
			"v1/ConfigMap default/vdu1-web-server": `
apiVersion: v1
kind: ConfigMap
metadata: { name: vdu1-web-server, namespace: default, labels: { app: webserver, app.kubernetes.io/name: vdu1 } }
data: { param0: key1, param1: "http://a:80" }
`,
			"v1/Service default/vdu1": `
apiVersion: v1
kind: Service
metadata: { name: vdu1, namespace: default, labels: { app: webserver, app.kubernetes.io/name: vdu1 } }
spec:
  type: NodePort
  selector: { app.kubernetes.io/name: vdu1 }
  ports:
    - { name: tcp-80, protocol: TCP, port: 80, targetPort: 8080 }
    - { name: udp-53, protocol: UDP, port: 53, targetPort: 53 }
`,
			"apps/v1/Deployment default/vdu1": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: vdu1, namespace: default, labels: { app: webserver, app.kubernetes.io/name: vdu1 } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: vdu1 } }
  template:
    metadata:
      labels: { app: webserver, app.kubernetes.io/name: vdu1 }
      annotations: { vnf.nfv-iac.github.io/configuration: c0b6eaeaa0328e32, k8s.v1.cni.cncf.io/networks: n6 }
    spec:
      containers:
        - name: web-server
          image: nginx
          command: [ nginx ]
          args: [ -g, daemon off ]
          ports: [ { containerPort: 8080, protocol: TCP } ]
          envFrom: [ { configMapRef: { name: vdu1-web-server } } ]
          resources: { requests: { cpu: 200m, memory: 100M }, limits: { cpu: 200m, memory: 100M } }
`,
			"autoscaling/v2/HorizontalPodAutoscaler default/vdu1": `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: vdu1, namespace: default, labels: { app: webserver, app.kubernetes.io/name: vdu1 } }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: vdu1 }
  minReplicas: 1
  maxReplicas: 10
  metrics: [ { type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } } ]
`,
		},
	},
	{
		name: "storage of its own and shared",
		vnfd: sol001(`    db:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties:
        name: db
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }
      requirements: [ container: nginx, virtual_storage: data, virtual_storage: shared_files ]
    data:
      type: tosca.nodes.nfv.Vdu.VirtualBlockStorage
      properties:
        virtual_block_storage_data:
          size_of_storage: 1 GiB
          vdu_storage_requirements: { storage_class_name: fast, mount_path: /var/lib/db, access_mode: ReadWriteOncePod }
    shared_files:
      type: tosca.nodes.nfv.Vdu.VirtualFileStorage
      properties: { per_vnfc_instance: false, virtual_file_storage_data: { size_of_storage: 10 GB, file_system_protocol: nfs } }
` + nginx),
		want: map[string]string{
			"v1/PersistentVolumeClaim shared-files": `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: shared-files }
spec: { accessModes: [ ReadWriteMany ], resources: { requests: { storage: 10G } } }
`,
			"v1/Service db-headless": `
apiVersion: v1
kind: Service
metadata: { name: db-headless, labels: { app.kubernetes.io/name: db } }
spec: { clusterIP: None, selector: { app.kubernetes.io/name: db } }
`,
			"apps/v1/StatefulSet db": `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, labels: { app.kubernetes.io/name: db } }
spec:
  serviceName: db-headless
  selector: { matchLabels: { app.kubernetes.io/name: db } }
  template:
    metadata: { labels: { app.kubernetes.io/name: db } }
    spec:
      containers:
        - name: nginx
          image: registry.example.com/nginx:1.0
          volumeMounts: [ { name: data, mountPath: /var/lib/db }, { name: shared-files, mountPath: /mnt/shared-files } ]
      volumes: [ { name: shared-files, persistentVolumeClaim: { claimName: shared-files } } ]
  volumeClaimTemplates:
    - apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: data }
      spec: { accessModes: [ ReadWriteOncePod ], storageClassName: fast, resources: { requests: { storage: 1Gi } } }
`,
		},
	},
	{
		name: "demands of a container and of its nodes",
		vnfd: sol001(`    upf:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties:
        name: upf
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }
        mcio_identification_data: { name: upf, type: Pod }
        logical_node: { any: { logical_node_requirements: { example.com/dataplane: "true" } } }
        nfvi_constraints: { node.kubernetes.io/instance-type: metal }
        requested_additional_capabilities:
          avx: { requested_additional_capability_name: feature.node.kubernetes.io/cpu-cpuid.AVX512F, support_mandatory: true }
          ssd: { requested_additional_capability_name: feature.node.kubernetes.io/storage-nonrotationaldisk, support_mandatory: false }
      requirements: [ container: dpdk ]
    dpdk:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties:
        requested_cpu_resources: 4000
        memory_resource_limit: 1 GiB
        requested_ephemeral_storage_resources: 1 GB
        ephemeral_storage_resource_limit: 2 GB
        cpu_pinning_requirements: { virtual_cpu_pinning_policy: static }
        huge_pages_resources: [ { hugepage_size: 1 GiB, requested_size: 2 GiB }, { hugepage_size: 2 MiB, requested_size: 64 MiB } ]
        extended_resource_requests: [ { extended_resource: { fpga: example.com/fpga }, amount: 2 } ]
      artifacts: { image: { type: tosca.artifacts.nfv.SwImage, file: ../Images/upf.tar, properties: { name: example/upf, version: 2.10 } } }
    n3:
      type: tosca.nodes.nfv.VduCp
      properties:
        layer_protocols: [ ipv4 ]
        vnic_type: direct
        virtual_network_interface_requirements:
          - network_interface_requirements: { k8s.v1.cni.cncf.io/networks: n3-net, k8s.v1.cni.cncf.io/resourceName: intel.com/sriov }
      requirements: [ virtual_binding: upf ]
`),
		want: map[string]string{"v1/Pod upf": `
apiVersion: v1
kind: Pod
metadata: { name: upf, labels: { app.kubernetes.io/name: upf }, annotations: { k8s.v1.cni.cncf.io/networks: n3-net } }
spec:
  containers:
    - name: dpdk
      image: "example/upf:2.10"
      resources:
        requests: { cpu: "4", memory: 1Gi, ephemeral-storage: 1G, hugepages-1Gi: 2Gi, hugepages-2Mi: 64Mi, example.com/fpga: "2", intel.com/sriov: "1" }
        limits: { cpu: "4", memory: 1Gi, ephemeral-storage: 2G, hugepages-1Gi: 2Gi, hugepages-2Mi: 64Mi, example.com/fpga: "2", intel.com/sriov: "1" }
      volumeMounts: [ { name: hugepages-1gi, mountPath: /dev/hugepages-1Gi }, { name: hugepages-2mi, mountPath: /dev/hugepages-2Mi } ]
  volumes: [ { name: hugepages-2mi, emptyDir: { medium: HugePages-2Mi } }, { name: hugepages-1gi, emptyDir: { medium: HugePages-1Gi } } ]
  nodeSelector: { example.com/dataplane: "true", node.kubernetes.io/instance-type: metal }
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [ { matchExpressions: [ { key: feature.node.kubernetes.io/cpu-cpuid.AVX512F, operator: Exists } ] } ]
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 1
          preference: { matchExpressions: [ { key: feature.node.kubernetes.io/storage-nonrotationaldisk, operator: Exists } ] }
`},
	},
	{
		name: "a Vdu.Compute whose image is one of a container",
		vnfd: sol001(`    VDU_1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: VDU_1, vdu_profile: { min_number_of_instances: 2, max_number_of_instances: 2 } }
      capabilities:
        virtual_compute:
          properties:
            virtual_cpu: { num_virtual_cpu: 2, virtual_cpu_pinning: { virtual_cpu_pinning_policy: dynamic } }
            virtual_memory:
              virtual_mem_size: 4 GiB
              numa_enabled: true
              huge_pages_requirements: [ { hugepage_size: 2 MiB, requested_size: 1 GiB } ]
            virtual_local_storage: [ { size_of_storage: 3 GiB } ]
      artifacts:
        sw_image: { type: tosca.artifacts.nfv.SwImage, file: docker://registry.example.com:5000/a/b@sha256:0123456789012345678901234567890123456789012345678901234567890123, properties: { container_format: docker } }
`),
		want: map[string]string{"apps/v1/Deployment vdu-1": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: vdu-1, labels: { app.kubernetes.io/name: vdu-1 } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: vdu-1 } }
  template:
    metadata: { labels: { app.kubernetes.io/name: vdu-1 } }
    spec:
      containers:
        - name: vdu-1
          image: registry.example.com:5000/a/b@sha256:0123456789012345678901234567890123456789012345678901234567890123
          resources:
            requests: { cpu: "2", memory: 4Gi, ephemeral-storage: 3Gi, hugepages-2Mi: 1Gi }
            limits: { cpu: "2", memory: 4Gi, ephemeral-storage: 3Gi, hugepages-2Mi: 1Gi }
          volumeMounts: [ { name: hugepages-2mi, mountPath: /dev/hugepages } ]
      volumes: [ { name: hugepages-2mi, emptyDir: { medium: HugePages } } ]
`},
	},
	{
		name: "on every node",
		vnfd: sol001(`    agent:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties:
        name: agent
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }
        is_num_of_instances_cluster_based: true
      requirements: [ container: nginx ]
` + nginx),
		want: map[string]string{"apps/v1/DaemonSet agent": `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, labels: { app.kubernetes.io/name: agent } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: agent } }
  template:
    metadata: { labels: { app.kubernetes.io/name: agent } }
    spec: { containers: [ { name: nginx, image: "registry.example.com/nginx:1.0" } ] }
`},
	},
	{
		name: "a service",
		vnfd: sol001(webVDU + `    nginx:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties: { ports: [ { name: http, port: 8080 } ], env: { MODE: "on" } }
` + nginxImage + `    web_front:
      type: tosca.nodes.nfv.VirtualCp
      properties:
        layer_protocols: [ ipv4 ]
        additionalServiceData:
          - portData:
              - { name: http, protocol: TCP, port: 80, portConfigurable: false }
              - { name: sctp, protocol: SCTP, port: 38412, portConfigurable: false }
      requirements: [ target: web ]
`),
		some: true,
		want: map[string]string{
			"v1/Service web-front": `
apiVersion: v1
kind: Service
metadata: { name: web-front, labels: { app.kubernetes.io/name: web } }
spec:
  selector: { app.kubernetes.io/name: web }
  ports:
    - { name: http, protocol: TCP, port: 80, targetPort: http }
    - { name: sctp, protocol: SCTP, port: 38412, targetPort: 38412 }
`,
			"v1/ConfigMap web-nginx": `
apiVersion: v1
kind: ConfigMap
metadata: { name: web-nginx, labels: { app.kubernetes.io/name: web } }
data: { MODE: "on" }
`,
		},
	},
	{
		name: "placement",
		vnfd: sol001(webVDU + `    db:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: db, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
      requirements: [ container: nginx ]
` + nginx + `  groups:
    both: { type: tosca.groups.nfv.PlacementGroup, members: [ web, db ] }
  policies:
    - own_node: { type: tosca.policies.nfv.AntiAffinityRule, targets: [ web ], properties: { scope: nfvi_node } }
    - one_zone: { type: tosca.policies.nfv.AffinityRule, targets: [ both ], properties: { scope: zone } }
    - not_beside: { type: tosca.policies.nfv.AntiAffinityRule, targets: [ both ], properties: { scope: cis_node } }
    - one_site: { type: tosca.policies.nfv.AffinityRule, targets: [ both ], properties: { scope: nfvi_pop } }
`),
		want: map[string]string{
			"apps/v1/Deployment web": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app.kubernetes.io/name: web } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: web } }
  strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  template:
    metadata: { labels: { app.kubernetes.io/name: web } }
    spec:
      containers: [ { name: nginx, image: "registry.example.com/nginx:1.0" } ]
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: { matchExpressions: [ { key: app.kubernetes.io/name, operator: In, values: [ db, web ] } ] }
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: { matchExpressions: [ { key: app.kubernetes.io/name, operator: In, values: [ web ] } ] }
            - topologyKey: kubernetes.io/hostname
              labelSelector: { matchExpressions: [ { key: app.kubernetes.io/name, operator: In, values: [ db ] } ] }
`,
			"apps/v1/Deployment db": `
apiVersion: apps/v1
kind: Deployment
metadata: { name: db, labels: { app.kubernetes.io/name: db } }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: db } }
  template:
    metadata: { labels: { app.kubernetes.io/name: db } }
    spec:
      containers: [ { name: nginx, image: "registry.example.com/nginx:1.0" } ]
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: { matchExpressions: [ { key: app.kubernetes.io/name, operator: In, values: [ db, web ] } ] }
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: { matchExpressions: [ { key: app.kubernetes.io/name, operator: In, values: [ web ] } ] }
`,
		},
	},
}
