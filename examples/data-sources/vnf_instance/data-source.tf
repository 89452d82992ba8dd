variable "instance_id" {
  description = "Id of a VNF instance."
  type        = string
}

data "vnf_instance" "hello" {
  id = var.instance_id
}

# The addresses of the VNFCs that are ready, by VDU.
output "addresses" {
  value = { for vnfc in data.vnf_instance.hello.vnfcs : vnfc.vdu_id => vnfc.addresses... if vnfc.ready }
}
