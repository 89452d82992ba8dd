terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

locals {
  kubeconfig = <<-EOT
    apiVersion: v1
    kind: Config
    current-context: edge
    contexts:
      - name: edge
        context: { cluster: edge, user: deployer, namespace: core }
    clusters:
      - name: edge
        cluster: { server: "https://10.0.0.10:6443", tls-server-name: kubernetes }
    users:
      - name: deployer
        user: { token: not-a-real-token }
  EOT
}

output "host" {
  value = provider::vnf::parse_kubeconfig(local.kubeconfig).host
}

# The second argument chooses a context.
output "namespace" {
  value = provider::vnf::parse_kubeconfig(local.kubeconfig, "edge").namespace
}
