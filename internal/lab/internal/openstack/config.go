package openstack

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	texttemplate "text/template"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

//go:embed config
var configFiles embed.FS

// configure writes the configuration of services.
func configure(dir layout.Dir, state *layout.OpenStack, chosen []service) error {
	root := texttemplate.New("config").Option("missingkey=error").Funcs(texttemplate.FuncMap{
		"url":             func(kind string) string { return address(state.Ports, kind) },
		"port":            func(kind string) int { return port(state.Ports, kind) },
		"database":        databaseURL,
		"region":          func() string { return Region },
		"serviceUser":     func() string { return userService },
		"servicePassword": func() string { return state.Passwords[userService] },
		"stackDomain":     func() string { return stackDomain },
		"stackUser":       func() string { return stackUser },
		"queue":           func() string { return queueURL(state) },
		"secretKey":       func() (string, error) { return secretKey(dir) },
		"serviceProject":  func() string { return projectService },
		"computeDriver":   func() string { return computeDriver(state) },
	})
	if _, err := root.ParseFS(configFiles, "config/*.conf", "config/*.tmpl"); err != nil {
		return fmt.Errorf("parsing the configuration of OpenStack: %w", err)
	}
	for _, s := range chosen {
		var out bytes.Buffer
		if err := root.ExecuteTemplate(&out, s.config, nil); err != nil {
			return fmt.Errorf("expanding the configuration of %s: %w", s.name, err)
		}
		if err := layout.WriteFile(dir.Path("etc", s.config), out.Bytes()); err != nil {
			return err
		}
	}
	if err := writePython(dir); err != nil {
		return err
	}
	return layout.WriteFile(dir.Path("etc", databaseInit), append(catalogueSQL(state, chosen), networksSQL(state, chosen)...))
}

// configFile is the name of a service's configuration among those of the lab.
func configFile(s service) string { return "config/" + s.config }

// pythonFolder is the folder of the lab's own parts of services, beside their configuration.
const pythonFolder = "python"

// writePython writes the lab's own parts of services.
func writePython(dir layout.Dir) error {
	source, err := fs.Sub(configFiles, "config/"+pythonFolder)
	if err != nil {
		return fmt.Errorf("finding the lab's own parts of OpenStack: %w", err)
	}
	target := dir.Path("etc", pythonFolder)
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("replacing the lab's own parts of OpenStack: %w", err)
	}
	if err := os.CopyFS(target, source); err != nil {
		return fmt.Errorf("writing the lab's own parts of OpenStack: %w", err)
	}
	return nil
}

// The repositories of keys.
const (
	tokenKeys      = "fernet-keys"
	credentialKeys = "credential-keys" //nolint:gosec // The name of a folder.
	secretKeys     = "secret-keys"
)

// secretKey is the key with which Barbican keeps secrets.
func secretKey(dir layout.Dir) (string, error) {
	key, err := os.ReadFile(dir.Path("data", secretKeys, "0"))
	if err != nil {
		return "", fmt.Errorf("reading Barbican's key: %w", err)
	}
	return string(key), nil
}

// writeKeys makes the keys with which Keystone makes tokens and keeps credentials, and that of Barbican: each repository holds one in use and
// the one that would follow it.
func writeKeys(dir layout.Dir) error {
	for _, repository := range []string{tokenKeys, credentialKeys, secretKeys} {
		folder := dir.Path("data", repository)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making the folder of the keys: %w", err)
		}
		for i := range 2 {
			path := filepath.Join(folder, strconv.Itoa(i))
			key := make([]byte, 32)
			if _, err := rand.Read(key); err != nil {
				return fmt.Errorf("making a key: %w", err)
			}
			if err := layout.WriteFile(path, []byte(base64.URLEncoding.EncodeToString(key))); err != nil {
				return err
			}
		}
	}
	return nil
}
