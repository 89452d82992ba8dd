mock_provider "vnf" {
  mock_resource "vnf_package" {
    defaults = {
      id = "web@sha256:25ac7254daeb375c598f861d3b3d3416bae5c6fda12fea3c5539d7c354d6e297"
    }
  }

  mock_resource "vnf_instance" {
    defaults = {
      status = "INSTANTIATED"
    }
  }
}

variables {
  name         = "web"
  vim_id       = "11111111-2222-3333-4444-555555555555"
  package      = "web.csar"
  scale_levels = { web = 2 }
}

run "instance_of_the_package" {
  assert {
    condition     = startswith(vnf_instance.this.package_id, "web@sha256:")
    error_message = "The instance does not run the package."
  }

  assert {
    condition     = vnf_instance.this.namespace == "web" && output.domain == "web.svc.cluster.local"
    error_message = "The namespace is not named after the network function."
  }

  assert {
    condition     = vnf_instance.this.deletion_policy.volumes == "keep"
    error_message = "Volumes are to stay unless they are given up."
  }
}

run "rejects_a_negative_level" {
  command = plan

  variables {
    scale_levels = { web = -1 }
  }

  expect_failures = [var.scale_levels]
}

run "rejects_a_package_over_http" {
  command = plan

  variables {
    package = "http://packages.example.com/web.csar"
  }

  expect_failures = [var.package]
}
