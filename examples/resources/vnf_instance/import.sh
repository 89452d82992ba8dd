# By the id of the instance, by VIM, namespace and name, or by VIM and name, with the name or the id of the VIM. Without a namespace the
# default namespace of the VIM is meant. On OpenStack the name is that of the instance, or of its stack.
#
# An instance that the store does not know is found on its VIM, with its arguments. VIM and package must be registered before:
# terraform apply with -target and their addresses. Parameters of management drivers, and arguments that the VIM did not keep, show as
# differences in the next plan.
terraform import vnf_instance.hello 7b0f7f4e-6a58-4d0c-9f3e-0c1a7e0d2b11
terraform import vnf_instance.hello edge/hello-example/hello
terraform import vnf_instance.upf cloud/vnf-0c9d2a55-54c3-4d0e-8c77-52f1f4f4b0a2
