package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"gopkg.in/gcfg.v1"
	cloudprovider "k8s.io/cloud-provider"
)

// providerName is the name of the cloud, and the beginning of each node's providerID.
const providerName = "openstack"

// loginTimeout is how long OpenStack may take to answer at the start.
const loginTimeout = time.Minute

// configuration is cloud.conf, as far as it is known here. Other entries are passed over.
type configuration struct {
	Global struct {
		AuthURL                     string `gcfg:"auth-url"`
		Region                      string
		CAFile                      string `gcfg:"ca-file"`
		TLSInsecure                 bool   `gcfg:"tls-insecure"`
		EndpointType                string `gcfg:"os-endpoint-type"`
		ApplicationCredentialID     string `gcfg:"application-credential-id"`
		ApplicationCredentialSecret string `gcfg:"application-credential-secret"`
	}
	LoadBalancer struct {
		Enabled           bool
		Provider          string `gcfg:"lb-provider"`
		Method            string `gcfg:"lb-method"`
		SubnetID          string `gcfg:"subnet-id"`
		FloatingNetworkID string `gcfg:"floating-network-id"`
		Internal          bool   `gcfg:"internal-lb"`
		// ManageSecurityGroups has the ports of Services opened on the nodes.
		ManageSecurityGroups bool `gcfg:"manage-security-groups"`
	}
}

// readConfiguration reads cloud.conf.
func readConfiguration(from io.Reader) (c configuration, err error) {
	c.LoadBalancer.Enabled, c.LoadBalancer.Method = true, "ROUND_ROBIN"
	if from == nil {
		return c, errors.New("there is no cloud.conf: name it with --cloud-config")
	}
	if err := gcfg.FatalOnly(gcfg.ReadInto(&c, from)); err != nil {
		return c, fmt.Errorf("reading cloud.conf: %w", err)
	}
	if c.Global.AuthURL == "" || c.Global.ApplicationCredentialID == "" || c.Global.ApplicationCredentialSecret == "" {
		return c, errors.New("cloud.conf has no auth-url or no application credential: others are not known here")
	}
	return c, nil
}

// cloud is a project of OpenStack.
type cloud struct {
	settings         configuration
	compute, network *gophercloud.ServiceClient
	// balancing is nil in an OpenStack without Octavia.
	balancing *gophercloud.ServiceClient
}

// newCloud logs in.
func newCloud(from io.Reader) (cloudprovider.Interface, error) {
	c := &cloud{}
	var err error
	if c.settings, err = readConfiguration(from); err != nil {
		return nil, err
	}
	provider, err := openstack.NewClient(c.settings.Global.AuthURL)
	if err != nil {
		return nil, fmt.Errorf("reading the address of Keystone: %w", err)
	}
	trust := &tls.Config{InsecureSkipVerify: c.settings.Global.TLSInsecure, MinVersion: tls.VersionTLS12} //nolint:gosec // As the configuration says.
	if c.settings.Global.CAFile != "" {
		if trust.RootCAs, err = readCA(c.settings.Global.CAFile); err != nil {
			return nil, err
		}
	}
	provider.HTTPClient = http.Client{Transport: &http.Transport{TLSClientConfig: trust, Proxy: http.ProxyFromEnvironment}}
	ctx, cancel := context.WithTimeout(context.Background(), loginTimeout)
	defer cancel()
	err = openstack.Authenticate(ctx, provider, gophercloud.AuthOptions{
		IdentityEndpoint: c.settings.Global.AuthURL, ApplicationCredentialID: c.settings.Global.ApplicationCredentialID,
		ApplicationCredentialSecret: c.settings.Global.ApplicationCredentialSecret, AllowReauth: true,
	})
	if err != nil {
		return nil, fmt.Errorf("logging in to OpenStack: %w", err)
	}
	return c, c.findServices(provider)
}

// readCA reads the certificates that servers are trusted by.
func readCA(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file) //nolint:gosec // The configuration names it.
	if err != nil {
		return nil, fmt.Errorf("reading ca-file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca-file %s has no certificate", file)
	}
	return pool, nil
}

func (c *cloud) findServices(provider *gophercloud.ProviderClient) (err error) {
	at := gophercloud.EndpointOpts{Region: c.settings.Global.Region, Availability: gophercloud.Availability(c.settings.Global.EndpointType)}
	if c.settings.Global.EndpointType == "" {
		at.Availability = gophercloud.AvailabilityPublic
	}
	if c.compute, err = openstack.NewComputeV2(provider, at); err != nil {
		return fmt.Errorf("finding Nova: %w", err)
	}
	if c.network, err = openstack.NewNetworkV2(provider, at); err != nil {
		return fmt.Errorf("finding Neutron: %w", err)
	}
	if !c.settings.LoadBalancer.Enabled {
		return nil
	}
	var missing *gophercloud.ErrEndpointNotFound
	if c.balancing, err = openstack.NewLoadBalancerV2(provider, at); errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finding Octavia: %w", err)
	}
	return nil
}

func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) {
	return balancers{c}, c.balancing != nil
}

func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return instances{c}, true }

func (c *cloud) Instances() (cloudprovider.Instances, bool) { return nil, false }

func (c *cloud) Zones() (cloudprovider.Zones, bool) { return nil, false }

func (c *cloud) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

func (c *cloud) Routes() (cloudprovider.Routes, bool) { return nil, false }

func (c *cloud) ProviderName() string { return providerName }

func (c *cloud) HasClusterID() bool { return true }
