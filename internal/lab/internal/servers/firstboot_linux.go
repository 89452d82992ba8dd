package servers

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// scriptsFolder is where the first process of a server finds what it runs once.
const scriptsFolder = "var/lib/cloud/scripts"

// prepare writes what the first start of a server finds in its root, above the image.
func (s *server) prepare() (*firstBoot, error) {
	d := s.definition
	first := &firstBoot{}
	if d.Key != "" {
		first.keys = append(first.keys, strings.TrimSpace(d.Key))
	}
	made := system{}
	if d.System != "" {
		var err error
		if made, err = findSystem(d.System); err != nil {
			return nil, err
		}
	}
	if made.node {
		if err := s.prepareNode(); err != nil {
			return nil, err
		}
	} else if err := first.readUserData(d.UserData); err != nil {
		// As cloud-init does, the server starts without, and says so.
		if err := os.WriteFile(filepath.Join(s.folder(), console), []byte(err.Error()+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("writing the console: %w", err)
		}
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("making the identifier of the server: %w", err)
	}
	files := []file{
		{path: "etc/hostname", content: []byte(d.Hostname + "\n"), mode: 0o644},
		{path: "etc/hosts", content: []byte("127.0.0.1 localhost\n127.0.1.1 " + d.Hostname + "\n"), mode: 0o644},
		{path: "etc/machine-id", content: []byte(hex.EncodeToString(id) + "\n"), mode: 0o444},
	}
	if !made.node {
		files = append(files, file{path: "var/lib/cloud/instance/user-data.txt", content: d.UserData, mode: 0o600})
	}
	for i, script := range first.scripts {
		files = append(files, file{path: fmt.Sprintf("%s/%03d", scriptsFolder, i), content: script, mode: 0o700})
	}
	for _, made := range files {
		if err := s.write(made); err != nil {
			return nil, err
		}
	}
	return first, s.writeKeys(first.keys)
}

// prepareNode writes what cloud-init finds in a server that has it: the metadata and the user data that Nova would serve.
func (s *server) prepareNode() error {
	const seed = "var/lib/cloud/seed/nocloud/"
	d := s.definition
	metadata := fmt.Sprintf("instance-id: %s\nlocal-hostname: %s\nhostname: %s\n", d.ID, d.Hostname, d.Hostname)
	return errors.Join(
		s.write(file{path: seed + "meta-data", content: []byte(metadata), mode: 0o644}),
		s.write(file{path: seed + "user-data", content: d.UserData, mode: 0o600}),
	)
}

// written opens the part of a server's root that is its own. Nothing leads out of it.
func (s *server) written() (*os.Root, error) {
	path := filepath.Join(s.writes(), folderWritten)
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // Others than root use a server, too.
		return nil, fmt.Errorf("making the root of the server: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the root of the server: %w", err)
	}
	return root, nil
}

// file is one of a server's root.
type file struct {
	path    string
	content []byte
	mode    os.FileMode
}

func (s *server) write(made file) error {
	root, err := s.written()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // The files in it were closed.
	path := made.path
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of /%s of the server: %w", path, err)
	}
	if err := root.WriteFile(path, made.content, made.mode); err != nil {
		return fmt.Errorf("writing /%s of the server: %w", path, err)
	}
	if err := root.Chmod(path, made.mode); err != nil {
		return fmt.Errorf("writing /%s of the server: %w", path, err)
	}
	return nil
}

// writeKeys lets the user in by keys.
func (s *server) writeKeys(keys []string) error {
	const folder = "home/" + userName + "/.ssh"
	if err := s.write(file{path: folder + "/authorized_keys", content: []byte(strings.Join(keys, "\n") + "\n"), mode: 0o600}); err != nil {
		return err
	}
	root, err := s.written()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // The files in it were closed.
	for _, path := range []string{"home/" + userName, folder, folder + "/authorized_keys"} {
		if err := root.Lchown(path, userID, userID); err != nil {
			return fmt.Errorf("giving the user his keys: %w", err)
		}
	}
	return root.Chmod(folder, 0o700)
}
