variable "instance_id" {
  description = "Id of a VNF instance."
  type        = string
}

data "vnf_operations" "hello" {
  instance_id = var.instance_id
}

output "failed" {
  value = [for op in data.vnf_operations.hello.operations : "${op.type} at ${op.started_at}: ${op.error}" if op.error != null]
}
