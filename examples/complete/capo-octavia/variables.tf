variable "kubeconfig" {
  description = "Path of a kubeconfig for the management cluster."
  type        = string
}

variable "clouds" {
  description = "Path of a clouds.yaml."
  type        = string
  default     = "~/.config/openstack/clouds.yaml"
}

variable "cloud" {
  description = "Name of the cloud in it."
  type        = string
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}

variable "namespace" {
  description = "Namespace of the cluster on the management cluster. It is created."
  type        = string
  default     = "edge"
}

variable "kubernetes_version" {
  description = "Version of Kubernetes of the cluster."
  type        = string
  default     = "1.35.4"
}

variable "image_prefix" {
  description = "Name of the image of all machines, up to the version of Kubernetes."
  type        = string
  default     = "ubuntu-2404-kube-v"
}

variable "flavor" {
  description = "Flavor of all machines."
  type        = string
  default     = "m1.medium"
}

variable "external_network" {
  description = "Name of the external network of OpenStack."
  type        = string
  default     = "public"
}

variable "subnet" {
  description = "Addresses of the network that is made for the machines."
  type        = string
  default     = "10.61.0.0/24"
}

variable "load_balancer_provider" {
  description = "Provider of Octavia for the API; null takes its default."
  type        = string
  default     = null
}

variable "control_planes" {
  description = "Number of machines of the control plane: one, three or five."
  type        = number
  default     = 3
}

variable "workers" {
  description = "Number of workers."
  type        = number
  default     = 2
}

variable "credential" {
  description = "Any string. Another one issues a new application credential; the old one is deleted."
  type        = string
  default     = null
}

variable "flannel_chart" {
  description = "Folder of a copy of flannel's chart; null takes it from its vendor."
  type        = string
  default     = null
}

variable "cloud_chart" {
  description = "Folder of a chart of a cloud controller manager that takes the values of the profile; null takes that of cloud-provider-openstack from its vendor."
  type        = string
  default     = null
}
