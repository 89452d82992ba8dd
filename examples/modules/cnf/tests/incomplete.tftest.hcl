# A creation that failed with on_failure = "resume" leaves an instance that is not there yet.
mock_provider "vnf" {
  mock_resource "vnf_instance" {
    defaults = {
      status = "FAILED_TEMP"
    }
  }
}

variables {
  name    = "web"
  vim_id  = "11111111-2222-3333-4444-555555555555"
  package = "web.csar"
}

run "fails_while_the_function_is_not_there" {
  expect_failures = [vnf_instance.this]
}
