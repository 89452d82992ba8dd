package cluster

import (
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/pki"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// writeMaterial makes everything that is made once in the life of a lab: certificates, tokens, kubeconfigs and
// configuration files.
func writeMaterial(dir layout.Dir, state *layout.State) error {
	state.AdminToken, state.BasicPassword = rand.Text(), rand.Text()

	authority, err := pki.NewCA("lab-ca")
	if err != nil {
		return err
	}
	if err := writePKI(dir, authority); err != nil {
		return err
	}
	if err := writeKubeconfigs(dir, authority, endpoint(state.Ports.APIServer())); err != nil {
		return err
	}
	if err := writeTokens(dir, state.AdminToken); err != nil {
		return err
	}
	if err := layout.WriteFile(dir.Path(auditPolicyFile), []byte(auditPolicy)); err != nil {
		return err
	}
	if err := layout.WriteFile(dir.Path(egressFile), []byte(egressConfig)); err != nil {
		return err
	}
	return writeStages(dir)
}

func writePKI(dir layout.Dir, authority *pki.Pair) error {
	frontProxy, err := pki.NewCA("lab-front-proxy-ca")
	if err != nil {
		return err
	}
	serviceAccounts, err := pki.NewCA("lab-service-accounts")
	if err != nil {
		return err
	}
	public, err := serviceAccounts.PublicKeyPEM()
	if err != nil {
		return err
	}
	if err := layout.WriteFile(dir.PKI("service-accounts.pub"), public); err != nil {
		return err
	}
	pairs := map[string]*pki.Pair{"ca": authority, "front-proxy-ca": frontProxy, "service-accounts": serviceAccounts}

	kubernetesNames := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	for name, issue := range map[string]struct {
		ca      *pki.Pair
		request pki.Request
	}{
		"kube-apiserver":     {authority, pki.Request{CommonName: "kube-apiserver", Names: kubernetesNames, Addresses: append(loopback(), net.ParseIP(serviceIP))}},
		"kubelet":            {authority, pki.Request{CommonName: "lab-kubelet", Names: []string{"localhost"}, Addresses: loopback()}},
		"kubelet-client":     {authority, pki.Request{CommonName: "kube-apiserver-kubelet-client", Organizations: []string{groupAdmins}}},
		"basic":              {authority, pki.Request{CommonName: "lab-basic-proxy", Names: []string{"localhost"}, Addresses: loopback()}},
		"older":              {authority, pki.Request{CommonName: "lab-older-cluster-api", Names: []string{"localhost"}, Addresses: loopback()}},
		"client":             {authority, pki.Request{CommonName: userClient, Organizations: []string{groupAdmins}}},
		"front-proxy-client": {frontProxy, pki.Request{CommonName: frontProxyUser}},
	} {
		pairs[name], err = issue.ca.Issue(issue.request)
		if err != nil {
			return err
		}
	}
	for name, pair := range pairs {
		key, err := pair.KeyPEM()
		if err != nil {
			return err
		}
		if err := layout.WriteFile(dir.PKI(name+".crt"), pair.CertificatePEM()); err != nil {
			return err
		}
		if err := layout.WriteFile(dir.PKI(name+".key"), key); err != nil {
			return err
		}
	}
	return nil
}

func writeKubeconfigs(dir layout.Dir, authority *pki.Pair, server string) error {
	for name, request := range map[string]pki.Request{
		kubeconfigAdmin:             {CommonName: userAdmin, Organizations: []string{groupAdmins}},
		kubeconfigService:           {CommonName: userService, Organizations: []string{groupAdmins}},
		kubeconfigKwok:              {CommonName: userKwok, Organizations: []string{groupAdmins}},
		kubeconfigControllerManager: {CommonName: "system:kube-controller-manager"},
		kubeconfigScheduler:         {CommonName: "system:kube-scheduler"},
	} {
		pair, err := authority.Issue(request)
		if err != nil {
			return err
		}
		key, err := pair.KeyPEM()
		if err != nil {
			return err
		}
		config := clientcmdapi.NewConfig()
		config.Clusters["lab"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority.CertificatePEM()}
		config.AuthInfos[request.CommonName] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.CertificatePEM(), ClientKeyData: key}
		config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: request.CommonName}
		config.CurrentContext = "lab"
		data, err := clientcmd.Write(*config)
		if err != nil {
			return fmt.Errorf("encoding the kubeconfig of %s: %w", request.CommonName, err)
		}
		if err := layout.WriteFile(dir.Kubeconfig(name), data); err != nil {
			return err
		}
	}
	return nil
}

// writeTokens writes the file of --token-auth-file: token, user name, user id, groups.
func writeTokens(dir layout.Dir, adminToken string) error {
	var text strings.Builder
	writer := csv.NewWriter(&text)
	if err := writer.Write([]string{adminToken, userAdmin, userAdmin, groupAdmins}); err != nil {
		return fmt.Errorf("encoding the tokens: %w", err)
	}
	writer.Flush()
	if err := writer.Error(); err != nil {
		return fmt.Errorf("encoding the tokens: %w", err)
	}
	return layout.WriteFile(dir.PKI("tokens.csv"), []byte(text.String()))
}

func writeStages(dir layout.Dir) error {
	logFile := func(model string) string { return dir.Path("podlog", model+".log") }
	config, err := stages.Render(logFile)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, model := range stages.Models() {
		if err := layout.WriteFile(logFile(model), stages.Log(model, now)); err != nil {
			return err
		}
	}
	return layout.WriteFile(dir.Path(kwokFile), config)
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the lab's certificates: %w", err)
	}
	return data, nil
}
