locals {
  vim     = yamldecode(file(var.vim_config))
  request = jsondecode(file(var.request))

  # Where the file quotes the certificate, YAML folds its line breaks to blanks.
  ca = local.vim.ssl_ca_cert == "None" ? null : replace(replace(replace(local.vim.ssl_ca_cert, " ", "\n"), "BEGIN\n", "BEGIN "), "END\n", "END ")
}

resource "vnf_vim" "edge" {
  name = "edge"

  kubernetes = {
    endpoint                 = local.vim.auth_url
    bearer_token_wo          = local.vim.bearer_token
    bearer_token_wo_version  = 1
    ca_certificate           = local.ca
    insecure_skip_tls_verify = local.ca == null
    default_namespace        = local.vim.project_name
  }
}

resource "vnf_package" "hello" {
  name   = "hello"
  source = "${path.module}/../../../packages/hello"
}

resource "vnf_instance" "hello" {
  name              = "hello"
  vim_id            = vnf_vim.edge.id
  package_id        = vnf_package.hello.id
  flavour_id        = local.request.flavourId
  additional_params = local.request.additionalParams
}
