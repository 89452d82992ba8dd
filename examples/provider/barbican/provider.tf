terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# The keys are in Barbican, the sealed values in the store. The secret of the
# application credential comes from VNF_BARBICAN_APPLICATION_CREDENTIAL_SECRET.
provider "vnf" {
  encryption = {
    barbican = {
      auth = {
        auth_url                  = "https://cloud.example:5000/v3"
        region                    = "RegionOne"
        application_credential_id = "0e1f7c2b9d3a4c6fb0a1d2e3f4a5b6c7"
      }

      # Changing this rotates all keys.
      rotation_trigger = "2026-11"
    }
  }
}
