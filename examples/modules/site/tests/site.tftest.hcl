mock_provider "vnf" {
  mock_resource "vnf_vim" {
    defaults = {
      id     = "11111111-2222-3333-4444-555555555555"
      status = "REACHABLE"
    }
  }
}

variables {
  name = "edge"

  # The provider validates arguments behind a mock, too: this must be a kubeconfig.
  kubeconfig = <<-YAML
    apiVersion: v1
    kind: Config
    clusters: [{ name: edge, cluster: { server: "https://kubernetes.example.com:6443" } }]
    users: [{ name: edge, user: { token: none } }]
    contexts: [{ name: edge, context: { cluster: edge, user: edge } }]
    current-context: edge
  YAML
}

run "registers_the_cluster" {
  assert {
    condition     = output.vim_id == "11111111-2222-3333-4444-555555555555"
    error_message = "The output is not the id of the VIM."
  }

  assert {
    condition     = vnf_vim.this.kubernetes.kubeconfig_wo_version == 1
    error_message = "The version of the kubeconfig is not passed on."
  }
}

run "rejects_a_name_with_capitals" {
  command = plan

  variables {
    name = "Edge"
  }

  expect_failures = [var.name]
}
