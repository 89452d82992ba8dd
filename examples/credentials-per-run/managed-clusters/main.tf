terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# Each program prints a token and runs again when it expires. It uses the cloud credentials of the
# environment of Terraform.
provider "vnf" {
  vims = {
    eks = {
      kubernetes = {
        endpoint       = var.eks.endpoint
        ca_certificate = base64decode(var.eks.ca)
        exec = {
          api_version = "client.authentication.k8s.io/v1beta1"
          command     = "aws"
          args        = ["eks", "get-token", "--cluster-name", var.eks.name]
        }
      }
    }
    gke = {
      kubernetes = {
        endpoint       = var.gke.endpoint
        ca_certificate = base64decode(var.gke.ca)
        exec = {
          api_version = "client.authentication.k8s.io/v1beta1"
          command     = "gke-gcloud-auth-plugin"
        }
      }
    }
    aks = {
      kubernetes = {
        endpoint       = var.aks.endpoint
        ca_certificate = base64decode(var.aks.ca)
        exec = {
          api_version = "client.authentication.k8s.io/v1beta1"
          command     = "kubelogin"
          # The application id of the AKS server, the same in each tenant.
          args = ["get-token", "--login", "workloadidentity", "--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630"]
        }
      }
    }
  }
}

variable "eks" {
  type = object({ name = string, endpoint = string, ca = string })
}

variable "gke" {
  type = object({ endpoint = string, ca = string })
}

variable "aks" {
  type = object({ endpoint = string, ca = string })
}

resource "vnf_vim" "clusters" {
  for_each = toset(["eks", "gke", "aks"])
  name     = each.key
}
