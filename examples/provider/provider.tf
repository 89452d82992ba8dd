terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# Every argument is optional: without this block the records are kept in
# ~/.local/state/terraform-provider-vnf, sealed with a key that is made there.
provider "vnf" {
  store = {
    local = {
      path = "${path.root}/.vnf/store.db"
    }
  }

  encryption = {
    key_file = "${path.root}/.vnf/key.txt"
  }

  concurrency = 32
}
