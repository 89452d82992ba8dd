import {
  to = vnf_instance.hello
  identity = {
    id = "7b0f7f4e-6a58-4d0c-9f3e-0c1a7e0d2b11"
  }
}
