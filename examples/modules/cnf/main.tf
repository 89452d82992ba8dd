resource "vnf_package" "this" {
  name   = var.name
  source = var.package
}

resource "vnf_instance" "this" {
  name              = var.name
  vim_id            = var.vim_id
  package_id        = vnf_package.this.id
  namespace         = coalesce(var.namespace, var.name)
  scale_levels      = var.scale_levels
  additional_params = var.params

  deletion_policy = { volumes = var.keep_volumes ? "keep" : "delete" }

  lifecycle {
    # With on_failure = "resume" an apply succeeds while the function is not there yet.
    postcondition {
      condition     = self.status == "INSTANTIATED"
      error_message = "${self.name} is ${self.status}: apply again to continue."
    }
  }
}
