# By the id of the registry in the store, or by its host, as the argument host has it, and its name.
#
# An import cannot log in to the host. If the store does not know the registry, its status is UNKNOWN until the next apply, which finds it
# on the host and changes only what differs from the configuration.
terraform import vnf_private_registry.edge 4f8e0f0e-6f2b-4f4c-9f3a-2d6c1b8a7e55
terraform import vnf_private_registry.edge 192.0.2.10/private_registry
