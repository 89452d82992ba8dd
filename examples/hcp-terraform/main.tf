# The store is in a cluster that every runner reaches: nothing of the provider is kept on the runner. Credentials come with the run
# and are stored nowhere: a program prints the token that the pipeline gives this job.
provider "vnf" {
  store = {
    kubernetes = {
      namespace      = var.store.namespace
      endpoint       = var.store.endpoint
      ca_certificate = var.store.ca_certificate
      exec           = local.token["store"]
    }
  }

  vims = {
    edge = {
      kubernetes = {
        endpoint       = var.edge.endpoint
        ca_certificate = var.edge.ca_certificate
        exec           = local.token["edge"]
      }
    }
  }
}

locals {
  token = {
    for cluster in ["store", "edge"] : cluster => {
      api_version = "client.authentication.k8s.io/v1"
      command     = "sh"
      args        = ["./token.sh", cluster]
    }
  }
}

# The connection is the entry of vims with this name.
resource "vnf_vim" "edge" {
  name = "edge"
}

resource "vnf_package" "hello" {
  name   = "hello"
  source = var.package
}

resource "vnf_instance" "hello" {
  name       = "hello"
  vim_id     = vnf_vim.edge.id
  package_id = vnf_package.hello.id
  namespace  = var.namespace
}
