# The store is in a cluster that every runner reaches: nothing of the provider is kept on the runner. Credentials come with the run
# and are stored nowhere.
provider "vnf" {
  store = {
    kubernetes = {
      namespace      = var.store.namespace
      endpoint       = var.store.endpoint
      ca_certificate = var.store.ca_certificate
      bearer_token   = var.store_token
    }
  }

  vims = {
    edge = {
      kubernetes = {
        endpoint       = var.edge.endpoint
        ca_certificate = var.edge.ca_certificate
        bearer_token   = var.edge_token
      }
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
