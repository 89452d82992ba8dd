package vnfm

// StackKind is the kind of the Heat stack among the objects of an instance.
const StackKind = "OS::Heat::Stack"

// OpenStackConnection says where an OpenStack is and as whom to talk to it. Exactly one
// way of authentication is set, here or in the Credentials.
type OpenStackConnection struct {
	// AuthURL is that of Keystone, with or without /v3; empty when clouds.yaml gives it.
	AuthURL string `json:"auth_url,omitempty"`
	Region  string `json:"region,omitempty"`
	// Interface is which of the catalogue's endpoints are used: "public", which empty
	// means, "internal" or "admin".
	Interface string `json:"interface,omitempty"`
	// CACertificate is a PEM bundle; empty means the system's roots.
	CACertificate         string `json:"ca_certificate,omitempty"`
	InsecureSkipTLSVerify bool   `json:"insecure_skip_tls_verify,omitempty"`
	// AllowHTTPEndpoints has services used that the catalogue has at http, although AuthURL
	// is https.
	AllowHTTPEndpoints bool `json:"allow_http_endpoints,omitempty"`
	// Username or UserID go with the credential "password", and may say whose the
	// application credential is that ApplicationCredentialName names.
	Username       string `json:"username,omitempty"`
	UserID         string `json:"user_id,omitempty"`
	UserDomainName string `json:"user_domain_name,omitempty"`
	UserDomainID   string `json:"user_domain_id,omitempty"`
	// The project is what a password or token is for. An application credential has its own.
	ProjectName       string `json:"project_name,omitempty"`
	ProjectID         string `json:"project_id,omitempty"`
	ProjectDomainName string `json:"project_domain_name,omitempty"`
	ProjectDomainID   string `json:"project_domain_id,omitempty"`
	// One of these goes with the credential "application_credential_secret".
	ApplicationCredentialID   string `json:"application_credential_id,omitempty"`
	ApplicationCredentialName string `json:"application_credential_name,omitempty"`
	// Cloud chooses a cloud of the credential "clouds_yaml".
	Cloud string `json:"cloud,omitempty"`
	// PerRun says that the connection came with this run, for errors.
	PerRun bool `json:"-"`
}

// Names of the credentials of an OpenStack VIM. "password" is another.
const (
	CredentialApplicationSecret = "application_credential_secret"
	CredentialToken             = "token"
	CredentialCloudsYAML        = "clouds_yaml"
)

// OpenStackState is what a check of an OpenStack VIM saw.
type OpenStackState struct {
	UserID      string `json:"user_id"`
	UserName    string `json:"user_name,omitempty"`
	ProjectID   string `json:"project_id"`
	ProjectName string `json:"project_name,omitempty"`
	Region      string `json:"region,omitempty"`
	// Services are those of the catalogue by type.
	Services map[string]OpenStackService `json:"services,omitempty"`
}

// OpenStackService is a service of the catalogue.
type OpenStackService struct {
	Endpoint string `json:"endpoint"`
	// Version is the current one of the API, "v2.1", and Microversion the newest that it
	// has; empty where the service does not say.
	Version      string `json:"version,omitempty"`
	Microversion string `json:"microversion,omitempty"`
}

// ClusterOpenStack is the part that an OpenStack VIM has in a workload cluster, whose
// machines are there.
type ClusterOpenStack struct {
	VIMID string `json:"vim_id"`
	// Credential, when set, gives the cluster an application credential of its own.
	Credential *ClusterCredential `json:"credential,omitempty"`
	// UserID and ProjectID are the owner and the place of the application credential,
	// Access sums up how Keystone is reached. The manager takes them from the VIM.
	UserID    string `json:"user_id,omitempty"`
	ProjectID string `json:"project_id,omitempty"`
	Access    string `json:"access,omitempty"`
	// OwnerLater is set while a plan changes the connection of the VIM, whose user may be another one afterwards.
	OwnerLater bool `json:"-"`
	// Config, when set, gives the application credential to what runs on the cluster.
	Config *ClusterCloudConfig `json:"config,omitempty"`
	// Cleanup says what of the cloud provider of the cluster goes with it.
	Cleanup CloudCleanup `json:"cleanup,omitzero"`
}

// ClusterCloudConfig is a Secret on a workload cluster with the configuration of cloud-provider-openstack, which its cloud
// controller manager and its CSI drivers read.
type ClusterCloudConfig struct {
	Namespace  string `json:"namespace"`
	SecretName string `json:"secret_name"`
	// Settings are further entries of the file, by section and key.
	Settings map[string]map[string]string `json:"settings,omitempty"`
}

// ClusterCredential is an application credential that is made for a cluster.
type ClusterCredential struct {
	// SecretName is that of the Secret with clouds.yaml, CloudName its cloud.
	SecretName string `json:"secret_name"`
	CloudName  string `json:"cloud_name"`
	// Roles are those of the application credential; empty means all that its owner has.
	Roles []string `json:"roles,omitempty"`
	// RotationTrigger is any string: another one issues another application credential.
	RotationTrigger string `json:"rotation_trigger,omitempty"`
	// ExpiresAt, a time in RFC 3339 and UTC, is when Keystone refuses it from; empty means never.
	ExpiresAt string `json:"expires_at,omitempty"`
}

// OwnCredential is the application credential that is made for the cluster; nil when it
// has none of its own.
func (s *ClusterSpec) OwnCredential() *ClusterCredential {
	if s.OpenStack == nil {
		return nil
	}
	return s.OpenStack.Credential
}

// CloudConfig is the configuration of cloud-provider-openstack on the cluster; nil when it has none.
func (s *ClusterSpec) CloudConfig() *ClusterCloudConfig {
	if s.OwnCredential() == nil {
		return nil
	}
	return s.OpenStack.Config
}

// ApplicationCredentialID is that of the application credential that the instance has;
// empty when it has none.
func (i *Instance) ApplicationCredentialID() string {
	id := ""
	for _, item := range i.Inventory {
		// The last one is the newest: former ones may still be there.
		if item.Type == InventoryCredential && item.UID != "" {
			id = item.UID
		}
	}
	return id
}

// CloudCleanup says what a cloud provider left behind is removed with its cluster.
type CloudCleanup struct {
	LoadBalancers bool `json:"load_balancers,omitempty"`
	Volumes       bool `json:"volumes,omitempty"`
}
