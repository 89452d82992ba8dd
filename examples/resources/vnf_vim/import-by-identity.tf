import {
  to = vnf_vim.edge
  identity = {
    id = "0c9d2a55-54c3-4d0e-8c77-52f1f4f4b0a2"
  }
}
