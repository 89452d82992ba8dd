variable "name" {
  description = "Name of the package."
  type        = string
}

variable "source_url" {
  description = "Directory, file or URL of the VNF package."
  type        = string
}

# Each site onboards the package; the store has its content once.
resource "vnf_package" "this" {
  name   = var.name
  source = var.source_url
}

output "package_id" {
  description = "Id of the package."
  value       = vnf_package.this.id
}
