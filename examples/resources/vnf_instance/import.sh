# By the id of the instance, or by VIM, namespace and name.
terraform import vnf_instance.hello 7b0f7f4e-6a58-4d0c-9f3e-0c1a7e0d2b11
terraform import vnf_instance.hello 0c9d2a55-54c3-4d0e-8c77-52f1f4f4b0a2/hello-example/hello
