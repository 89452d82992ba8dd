# By name (the version that was onboarded last) or by id, <name>@<digest>. The
# source is not in the store: the next apply reads it again and records it, in place.
terraform import vnf_package.hello hello
