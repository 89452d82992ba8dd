terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

variable "host" {
  description = "Address of the host of a registry in the store."
  type        = string
}

data "vnf_private_registry" "edge" {
  host = var.host

  lifecycle {
    postcondition {
      condition     = self.status == "READY"
      error_message = "Private registry ${self.name} is ${self.status}: ${join(", ", self.drift)}"
    }
  }
}

output "server" {
  value = data.vnf_private_registry.edge.server
}
