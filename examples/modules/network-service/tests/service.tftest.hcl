mock_provider "vnf" {
  mock_resource "vnf_instance" {
    defaults = {
      status = "INSTANTIATED"
    }
  }
}

variables {
  vim_id   = "11111111-2222-3333-4444-555555555555"
  packages = { core = "core5g.csar", ims = "ims.csar" }
}

run "small" {
  assert {
    condition     = length(output.vdus) == 2
    error_message = "The service does not have two functions."
  }
}

run "rejects_an_unknown_level" {
  command = plan

  variables {
    level = "huge"
  }

  expect_failures = [var.level]
}
