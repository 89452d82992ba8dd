package kubeconfig

// Ways is for tests.
var Ways = (*Config).ways
