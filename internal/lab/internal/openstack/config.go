package openstack

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
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
		"serviceProject":  func() string { return projectService },
	})
	if _, err := root.ParseFS(configFiles, "config/*"); err != nil {
		return fmt.Errorf("parsing the configuration of OpenStack: %w", err)
	}
	for _, s := range chosen {
		var out bytes.Buffer
		if err := root.ExecuteTemplate(&out, s.name+".conf", nil); err != nil {
			return fmt.Errorf("expanding the configuration of %s: %w", s.name, err)
		}
		if err := layout.WriteFile(dir.Path("etc", s.name+".conf"), out.Bytes()); err != nil {
			return err
		}
	}
	return layout.WriteFile(dir.Path("etc", databaseInit), catalogueSQL(state, chosen))
}

// configFile is the name of a service's configuration among those of the lab.
func configFile(s service) string { return "config/" + s.name + ".conf" }

// writeKeys makes the keys with which Keystone makes tokens and keeps credentials: each repository holds one in use and
// the one that would follow it.
func writeKeys(dir layout.Dir) error {
	for _, repository := range []string{"fernet-keys", "credential-keys"} {
		folder := dir.Path("data", repository)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making the folder of Keystone's keys: %w", err)
		}
		for i := range 2 {
			path := filepath.Join(folder, strconv.Itoa(i))
			key := make([]byte, 32)
			if _, err := rand.Read(key); err != nil {
				return fmt.Errorf("making a key for Keystone: %w", err)
			}
			if err := layout.WriteFile(path, []byte(base64.URLEncoding.EncodeToString(key))); err != nil {
				return err
			}
		}
	}
	return nil
}
