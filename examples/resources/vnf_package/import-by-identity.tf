import {
  to = vnf_package.hello
  identity = {
    name = "hello"
  }
}
