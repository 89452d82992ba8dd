variable "kubeconfig" {
  description = "Path of a kubeconfig."
  type        = string
}

resource "vnf_vim" "edge" {
  name = "edge"
  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

resource "vnf_package" "hello" {
  name   = "hello"
  source = "${path.module}/../../packages/hello"
}

resource "vnf_instance" "hello" {
  name         = "hello"
  description  = "web server of the edge site"
  vim_id       = vnf_vim.edge.id
  package_id   = vnf_package.hello.id
  namespace    = "hello-example"
  scale_levels = { web = 1 }

  termination = {
    type             = "graceful"
    graceful_timeout = "30s"
  }

  timeouts = {
    create = "10m"
  }
}
