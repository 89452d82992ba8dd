terraform {
  required_version = ">= 1.14"
}

# terraform apply -invoke=action.vnf_heal.web
action "vnf_heal" "web" {
  config {
    instance_id = vnf_instance.hello.id
    vdu_ids     = ["web"]
    cause       = "maintenance"
  }
}

# Or with each change of something else.
resource "terraform_data" "certificate" {
  triggers_replace = filesha256("${path.module}/tls.crt")

  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.vnf_heal.web]
    }
  }
}
