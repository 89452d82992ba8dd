# A topology of a ClusterClass.
resource "vnf_capi_workload_cluster" "edge" {
  management_vim_id  = vnf_vim.management.id
  namespace          = "edge"
  name               = "edge-1"
  kubernetes_version = "1.34.0"

  topology = {
    class           = "openstack"
    class_variables = jsonencode({ imageName = "ubuntu-24.04-kube-v1.34.0", nodeFlavor = { name = "m1.large" } })
  }

  network       = { pod_cidrs = ["192.168.0.0/16"], service_cidrs = ["10.128.0.0/12"] }
  control_plane = { replicas = 3 }

  node_groups = {
    workers = {
      class    = "default-worker"
      replicas = 3
      deletion = { node_drain_timeout = "10m" }
    }
    # An autoscaler sets the number of these nodes.
    user-plane = {
      class        = "default-worker"
      min_replicas = 1
      max_replicas = 10
      taints       = [{ key = "dedicated", value = "user-plane", effect = "NoSchedule" }]
    }
  }

  # Installed as soon as the API answers: nodes become ready only with a network plugin.
  addons = {
    network = {
      chart     = { repository = "https://helm.cilium.io", name = "cilium", version = "~1.16.0" }
      namespace = "kube-system"
      values    = [yamlencode({ ipam = { mode = "kubernetes" } })]
    }
    monitoring = {
      chart     = { path = "${path.module}/charts/monitoring" }
      namespace = "monitoring"
      after     = ["network"]
    }
  }
}
