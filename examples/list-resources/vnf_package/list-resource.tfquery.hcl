# terraform query -generate-config-out=generated.tf, with Terraform 1.14 or newer.
# Generated configuration has no access to the source, such as a password, and no source that may hold a secret: add them.
list "vnf_package" "all" {
  provider = vnf
}
