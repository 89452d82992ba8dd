package install

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func tarred(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	require.NoError(t, w.AddFS(os.DirFS(dir)))
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestCheck(t *testing.T) {
	certificate, key := pair(t, nil)
	other, _ := pair(t, nil)
	expired, expiredKey := pair(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	early, earlyKey := pair(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })
	nameless, namelessKey := pair(t, func(c *x509.Certificate) { c.DNSNames = nil })
	one := saved(t, map[string]image{"registry:2": newImage(t, "amd64")})
	two := saved(t, map[string]image{"registry:2": newImage(t, "amd64"), "quay.io/mirror/pause:3.9": newImage(t, "amd64")})
	oci := ociLayout(t, "docker.io/library/registry:3")
	users := func(name, password string) map[string]vnfm.Secret {
		return map[string]vnfm.Secret{"good": "password", name: vnfm.Secret(password)}
	}
	tests := map[string]struct {
		config Config
		// attribute[key] is where, text in summary or detail; empty is no problem.
		attribute, key, text string
	}{
		"nothing said":              {config: Config{}},
		"all said":                  {config: Config{Name: "a.b-c_1", Runtime: Podman, Image: "quay.io:443/x/registry:3@sha256:" + strings.Repeat("a", 64), Port: 65535, Certificate: certificate, Key: key, Users: users("b", strings.Repeat("p", 72)), StoragePath: "/srv/registry", Proxy: Proxy{HTTP: "http://u:p%40@proxy:3128", HTTPS: "https://proxy:3129", No: "10.0.0.0/8,.example.com"}}},
		"saved":                     {config: Config{Archive: archive("Files/r.tar", one)}},
		"saved and compressed":      {config: Config{Archive: archive("Files/r.tar.gz", gzipped(t, one))}},
		"one of two":                {config: Config{Archive: archive("Files/r.tar", two), Image: "docker.io/library/registry:2"}},
		"layout":                    {config: Config{Archive: archive("Files/r.tar", oci), Runtime: Podman}},
		"name with a slash":         {Config{Name: "a/b"}, "name", "", `"a/b" cannot be the name`},
		"name that begins badly":    {Config{Name: "-rm"}, "name", "", `"-rm"`},
		"another runtime":           {Config{Runtime: "containerd"}, "runtime", "", "docker or podman"},
		"port below":                {Config{Port: -1}, "port", "", "-1 is not a TCP port"},
		"port above":                {Config{Port: 65536}, "port", "", "65536 is not a TCP port"},
		"port of SSH":               {Config{Port: 22}, "port", "", "SSH"},
		"relative storage":          {Config{StoragePath: "registry"}, "storage_path", "", "absolute"},
		"storage that climbs":       {Config{StoragePath: "/srv/../etc"}, "storage_path", "", "absolute"},
		"storage with a colon":      {Config{StoragePath: "/srv/a:b"}, "storage_path", "", "absolute"},
		"storage of the system":     {Config{StoragePath: "/var/lib/docker"}, "storage_path", "", "/var/lib/docker/registry"},
		"image as URL":              {Config{Image: "https://registry:2"}, "image", "", "is a URL"},
		"image in capitals":         {Config{Image: "Registry:2"}, "image", "", "lower case"},
		"image that is an option":   {Config{Image: "--privileged"}, "image", "", "does not name an image"},
		"no archive":                {Config{Archive: archive("Files/r.tar", []byte("not a tar archive, of which nobody knows what it is"))}, "image_path", "", "Files/r.tar is not a file that `docker save` made"},
		"cut archive":               {Config{Archive: archive("Files/r.tar", one[:len(one)/2])}, "image_path", "", "not a complete tar archive"},
		"archive of files":          {Config{Archive: archive("Files/r.tar", tarred(t, filesOnly(t)))}, "image_path", "", "neither manifest.json nor index.json"},
		"archive of two":            {Config{Archive: archive("Files/r.tar", two)}, "image_path", "", "set image (container_image of a vnf_private_registry) to one of them: quay.io/mirror/pause:3.9, registry:2"},
		"archive without it":        {Config{Archive: archive("Files/r.tar", one), Image: "registry:3"}, "image_path", "", "holds no image registry:3; it holds"},
		"layout for Docker":         {Config{Archive: archive("Files/r.tar", oci)}, "image_path", "", "only from version 25"},
		"certificate alone":         {Config{Certificate: certificate}, "key", "", "no key"},
		"key alone":                 {Config{Key: key}, "certificate", "", "no certificate"},
		"no PEM":                    {Config{Certificate: "x", Key: key}, "certificate", "", "holds no certificate"},
		"expired":                   {Config{Certificate: expired, Key: expiredKey}, "certificate", "", "it expired at"},
		"not yet valid":             {Config{Certificate: early, Key: earlyKey}, "certificate", "", "not valid before"},
		"without names":             {Config{Certificate: nameless, Key: namelessKey}, "certificate", "", "no name that a client would accept"},
		"key of another":            {Config{Certificate: other, Key: key}, "key", "", "not the key of the certificate"},
		"encrypted key":             {Config{Certificate: certificate, Key: encryptedKey}, "key", "", "encrypted"},
		"user with a colon":         {Config{Users: users("a:b", "password")}, "users", "a:b", "no colon"},
		"user without password":     {Config{Users: users("a", "")}, "users", "a", "no password"},
		"password that is too long": {Config{Users: users("a", strings.Repeat("p", 73))}, "users", "a", "73 bytes"},
		"proxy of the seed":         {Config{Proxy: Proxy{HTTP: "http://user1:password1@host1:port1"}}, "proxy.http", "", "with the port as a number"},
		"proxy without scheme":      {Config{Proxy: Proxy{HTTPS: "proxy:3128"}}, "proxy.https", "", "http://[user:password@]host:port"},
		"proxy of SOCKS":            {Config{Proxy: Proxy{HTTPS: "socks5://proxy:3128"}}, "proxy.https", "", `cannot have the scheme "socks5"`},
		"list with spaces":          {Config{Proxy: Proxy{No: "a, b"}}, "proxy.no", "", "commas only"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			problems := test.config.Check()
			if test.text == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1, "%v", problems)
			assert.Equal(t, test.attribute, problems[0].Attribute)
			assert.Equal(t, test.key, problems[0].Key)
			assert.Contains(t, problems[0].String(), test.text)
			assert.NotContains(t, problems[0].String(), "password1")
		})
	}
}

func filesOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a", "b.json"), []byte(`{"a": 1}`))
	return dir
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"registry": "docker.io/library/registry:latest", "registry:2": "docker.io/library/registry:2", "docker.io/registry:2": "docker.io/library/registry:2",
		"org/registry": "docker.io/org/registry:latest", "localhost/r": "localhost/r:latest", "r.example.com/r:1": "r.example.com/r:1",
		"10.0.0.1:5000/r": "10.0.0.1:5000/r:latest", "index.docker.io/library/registry:2": "docker.io/library/registry:2",
	} {
		assert.Equal(t, want, canonical(text), text)
	}
}
