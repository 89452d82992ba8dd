package connect

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// list is where connections are in the parameters of clusters.
const list = "private_registry_connection_info"

// read reads a list of connections in JSON, as it is in a request.
func read(t *testing.T, text string, later bool) ([]Connection, vnfm.Problems) {
	t.Helper()
	var values map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"k8s_cluster_installation_param": {"`+list+`": `+text+`}}`), &values))
	var problems vnfm.Problems
	o := params.Root(values, later, &problems).Object("k8s_cluster_installation_param")
	return Read(o, list, fromPackage(t)), problems
}

// fromPackage reads files of a package that has the authority of testdata.
func fromPackage(t *testing.T) func(string) ([]byte, error) {
	t.Helper()
	ca := authority(t)
	return func(path string) ([]byte, error) {
		switch path {
		case "Files/registries/ca.crt":
			return []byte(ca), nil
		case "Files/registries/key.pem":
			return []byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"), nil
		case "Files/registries/empty.crt":
			return []byte("no PEM"), nil
		}
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
}

// authority is a CA certificate that is valid for a hundred years.
func authority(t *testing.T) string {
	t.Helper()
	pem, err := os.ReadFile("testdata/ca.crt")
	require.NoError(t, err)
	return string(pem)
}

// The request of the specification of Tacker, word by word.
func TestReadOfSpecification(t *testing.T) {
	connections, problems := read(t, `[
		{"connection_type": "0", "server": "192.168.0.10:5000"},
		{"connection_type": "1", "server": "registry.example.com", "username": "user01", "password": "user01",
		 "certificate_path": "Files/registries/ca.crt", "hosts_string": "192.168.0.20 registry.example.com"}
	]`, false)
	require.Empty(t, problems)
	assert.Equal(t, []Connection{
		{Type: HTTP, Server: "192.168.0.10:5000"},
		{
			Type: HTTPS, Server: "registry.example.com", Username: "user01", Password: "user01",
			Certificate: authority(t), HostsString: "192.168.0.20 registry.example.com",
		},
	}, connections)
}

func TestReadTypes(t *testing.T) {
	for text, want := range map[string]Type{`"0"`: HTTP, `0`: HTTP, `"http"`: HTTP, `"HTTP"`: HTTP, `"1"`: HTTPS, `1`: HTTPS, `" https "`: HTTPS} {
		connections, problems := read(t, `[{"connection_type": `+text+`, "server": "r:5000"}]`, false)
		require.Empty(t, problems, text)
		assert.Equal(t, want, connections[0].Type, text)
	}
}

func TestReadProblems(t *testing.T) {
	tests := map[string]struct {
		value string
		// attribute is below the list; text is in summary or detail.
		attribute, text string
	}{
		"no list":                {`{"server": "r"}`, "", "must be a list of objects"},
		"no object":              {`["r:5000"]`, ".0", "must be an object"},
		"no type":                {`[{"server": "r:5000"}]`, ".0.connection_type", "missing"},
		"another type":           {`[{"connection_type": 2, "server": "r:5000"}]`, ".0.connection_type", `is not a type of connection: "2"`},
		"a type that is true":    {`[{"connection_type": true, "server": "r:5000"}]`, ".0.connection_type", `is not a type of connection: "true"`},
		"no server":              {`[{"connection_type": 0}]`, ".0.server", "is missing"},
		"server is a URL":        {`[{"connection_type": 0, "server": "http://r:5000/"}]`, ".0.server", "remove http:// and write r:5000"},
		"server with path":       {`[{"connection_type": 0, "server": "r:5000/library"}]`, ".0.server", "path"},
		"server in capitals":     {`[{"connection_type": 0, "server": "R.example.com"}]`, ".0.server", "lower case"},
		"server with no port":    {`[{"connection_type": 0, "server": "r:http"}]`, ".0.server", `"http" is not a port`},
		"misspelled":             {`[{"connection_type": 0, "server": "r:5000", "user_name": "a"}]`, ".0.user_name", `did you mean "username"?`},
		"in the plural":          {`[{"connection_type": 0, "server": "r:5000", "servers": "r:5000"}]`, ".0.servers", `did you mean "server"?`},
		"not known at all":       {`[{"connection_type": 0, "server": "r:5000", "insecure_skip_verify": 1}]`, ".0.insecure_skip_verify", "known here are certificate_path, connection_type"},
		"user alone":             {`[{"connection_type": 0, "server": "r:5000", "username": "a"}]`, ".0.password", "is missing"},
		"password alone":         {`[{"connection_type": 0, "server": "r:5000", "password": "a"}]`, ".0.username", "is missing"},
		"user with colon":        {`[{"connection_type": 0, "server": "r:5000", "username": "a:b", "password": "c"}]`, ".0.username", "colon"},
		"object as user":         {`[{"connection_type": 0, "server": "r:5000", "username": {}}]`, ".0.username", "must be a string"},
		"no such certificate":    {`[{"connection_type": 1, "server": "r", "certificate_path": "Files/ca.crt"}]`, ".0.certificate_path", "Files/ca.crt"},
		"certificate is a key":   {`[{"connection_type": 1, "server": "r", "certificate_path": "Files/registries/key.pem"}]`, ".0.certificate_path", "private key"},
		"certificate is nothing": {`[{"connection_type": 1, "server": "r", "certificate_path": "Files/registries/empty.crt"}]`, ".0.certificate_path", "no certificate"},
		"hosts without name":     {`[{"connection_type": 1, "server": "r", "hosts_string": "192.168.0.20"}]`, ".0.hosts_string", "<IP address> <name>"},
		"hosts the other way":    {`[{"connection_type": 1, "server": "r", "hosts_string": "r.example.com 192.168.0.20"}]`, ".0.hosts_string", "not an IP address"},
		"hosts of two lines":     {`[{"connection_type": 1, "server": "r", "hosts_string": "192.168.0.20 r\n192.168.0.21 s"}]`, ".0.hosts_string", "on one line"},
		"twice":                  {`[{"connection_type": 1, "server": "r"}, {"connection_type": 0, "server": "r"}]`, ".1.server", "is given twice"},
		"two addresses":          {`[{"connection_type": 1, "server": "r", "hosts_string": "10.0.0.1 n"}, {"connection_type": 0, "server": "s", "hosts_string": "10.0.0.2 N"}]`, ".1.hosts_string", "a second address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := read(t, test.value, false)
			require.Len(t, problems, 1, "%v", problems)
			assert.Equal(t, vnfm.SeverityError, problems[0].Severity)
			assert.True(t, strings.HasPrefix(problems[0].Summary, "k8s_cluster_installation_param."+list+test.attribute+" "), problems[0].Summary)
			assert.Contains(t, problems[0].String(), test.text)
		})
	}
}

func TestReadWarnsOfCertificateWithoutHTTPS(t *testing.T) {
	connections, problems := read(t, `[{"connection_type": 0, "server": "r", "certificate_path": "Files/registries/ca.crt"}]`, false)
	require.Len(t, problems, 1)
	assert.Equal(t, vnfm.SeverityWarning, problems[0].Severity)
	require.Len(t, connections, 1)
	assert.Empty(t, connections[0].Certificate)
}

// A parameter of unknown value is not missing.
func TestReadLater(t *testing.T) {
	_, problems := read(t, `[{"username": "a"}]`, true)
	assert.Empty(t, problems)
}

func TestReadTellsNoPassword(t *testing.T) {
	_, problems := read(t, `[{"connection_type": 3, "server": "r r", "username": "", "password": "hunter2!"}]`, false)
	require.NotEmpty(t, problems)
	for _, p := range problems {
		assert.NotContains(t, p.String(), "hunter2!")
	}
}
