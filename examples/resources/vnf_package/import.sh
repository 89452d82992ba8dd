# By name (the version that was onboarded last) or by id, <name>@<digest>. Arguments that may hold a secret are not in the store: access to
# the source, and a source with user information or a query. The next apply records those of the configuration, in place.
terraform import vnf_package.hello hello
