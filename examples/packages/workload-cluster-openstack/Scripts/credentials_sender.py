# The provider has this management driver built in and finds it by its name. No code of a package is run.
