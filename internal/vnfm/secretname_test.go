package vnfm

import "testing"

func TestNamesSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "adminPassword": true, "DB_PASSWORD": true, "api-token": true, "tls.privateKey": true, "AWS_SECRET_ACCESS_KEY": true,
		"clientSecret": true, "passwd": true, "APIKey": true, "apiKey": true, "API_KEY": true, "kubeconfig": true, "auth.passphrase": true,
		"sudo_password": true, "bootstrap-token": true, "client-key-data": true, ".dockerconfigjson": true, "rootpassword": true, "secret": true,
		"topologyKey": false, "tokenExpirationSeconds": false, "passwordSecretRef": false, "tls-secret": false, "": false, "key": false, "public_key": false, "keyName": false, "secretName": false, "existingSecret": false, "imagePullSecret": false,
		"tokenTTL": false, "passwordPolicy": false, "tokenReview": false, "secrets": false, "monkey": false, "APIs": false,
	} {
		if got := NamesSecret(name); got != want {
			t.Errorf("NamesSecret(%q) = %t", name, got)
		}
	}
}
