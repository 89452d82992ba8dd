terraform {
  required_version = ">= 1.14"
}

# terraform apply -invoke=action.vnf_run_hook.setup
action "vnf_run_hook" "setup" {
  config {
    instance_id = vnf_instance.hello.id
    hook        = "instantiate_end"
  }
}
