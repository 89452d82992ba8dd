terraform {
  required_version = ">= 1.11"
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }

  # GitLab keeps and locks the state; TF_HTTP_… in .gitlab-ci.yml say where.
  backend "http" {}
}
