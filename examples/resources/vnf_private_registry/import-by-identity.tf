import {
  to = vnf_private_registry.edge
  identity = {
    id = "4f8e0f0e-6f2b-4f4c-9f3a-2d6c1b8a7e55"
  }
}
