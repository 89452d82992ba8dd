package servers

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/shell"
)

// userName is the user whom an image has for its users. His password is his name until user data say another.
const userName = "ubuntu"

// userID is his number, see image/etc/passwd.
const userID = 1000

// firstBoot is what is done when a server starts for the first time.
type firstBoot struct {
	// keys are lines of the user's authorized_keys, passwords lines of "user:password".
	keys, passwords []string
	// scripts are programs that run one after the other, when the server is up.
	scripts [][]byte
}

// cloudConfig is what is understood of a cloud-config. The rest is passed over, as what is not installed is by cloud-init.
type cloudConfig struct {
	Keys     []string `json:"ssh_authorized_keys"`
	Password string   `json:"password"`
	Chpasswd struct {
		// List is one text, or a list of texts.
		List  any `json:"list"`
		Users []struct {
			Name, Password string
		} `json:"users"`
	} `json:"chpasswd"`
	WriteFiles []writtenFile `json:"write_files"`
	// BootCmd and RunCmd are commands: texts for a shell, or lists of words.
	BootCmd []any `json:"bootcmd"`
	RunCmd  []any `json:"runcmd"`
}

// writtenFile is a file that a cloud-config asks for.
type writtenFile struct {
	Path, Content, Encoding, Owner string
	// Permissions are octal: a text, or a number, which the reader of YAML has understood as such.
	Permissions any
	Append      bool
}

// writer is a script that writes files: only in the server is a path what it seems.
func writer(files []writtenFile) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("#!/bin/sh\n")
	for _, wanted := range files {
		content, err := decode(wanted.Encoding, strings.NewReader(wanted.Content))
		if err != nil {
			return nil, fmt.Errorf("reading the content of %s in the user data: %w", wanted.Path, err)
		}
		path, redirect := shell.Quote(wanted.Path), ">"
		if wanted.Append {
			redirect = ">>"
		}
		fmt.Fprintf(&out, "mkdir -p \"$(dirname %s)\"\nbase64 -d %s%s <<'END'\n%s\nEND\n", path, redirect, path, base64.StdEncoding.EncodeToString(content))
		if wanted.Owner != "" {
			fmt.Fprintf(&out, "chown %s %s\n", shell.Quote(wanted.Owner), path)
		}
		if wanted.Permissions != nil {
			permissions := fmt.Sprint(wanted.Permissions)
			if number, is := wanted.Permissions.(float64); is {
				permissions = strconv.FormatInt(int64(number), 8)
			}
			fmt.Fprintf(&out, "chmod %s %s\n", shell.Quote(permissions), path)
		}
	}
	return out.Bytes(), nil
}

// readUserData reads a script, a cloud-config, or a message of several of them.
func (f *firstBoot) readUserData(data []byte) error {
	data, err := unzip(data)
	if err != nil {
		return fmt.Errorf("reading the user data: %w", err)
	}
	switch {
	case bytes.HasPrefix(data, []byte("#!")):
		f.scripts = append(f.scripts, data)
	case bytes.HasPrefix(data, []byte("#cloud-config")):
		return f.readCloudConfig(data)
	case bytes.HasPrefix(data, []byte("Content-Type:")), bytes.HasPrefix(data, []byte("MIME-Version:")):
		return f.readMessage(data)
	}
	return nil
}

// readMessage reads the parts of a message that are known.
func (f *firstBoot) readMessage(data []byte) error {
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("reading the user data: %w", err)
	}
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("reading the user data: %w", err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		return fmt.Errorf("the user data are a message of %s, which has no parts", kind)
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a part of the user data: %w", err)
		}
		content, err := decode(part.Header.Get("Content-Transfer-Encoding"), part)
		if err != nil {
			return fmt.Errorf("reading a part of the user data: %w", err)
		}
		if err := f.readUserData(bytes.TrimLeft(content, "\r\n")); err != nil {
			return err
		}
	}
}

func (f *firstBoot) readCloudConfig(data []byte) error {
	var config cloudConfig
	if err := yaml.Unmarshal(data, &config); err != nil {
		return fmt.Errorf("reading the cloud-config of the user data: %w", err)
	}
	f.keys = append(f.keys, config.Keys...)
	if config.Password != "" {
		f.passwords = append(f.passwords, userName+":"+config.Password)
	}
	for _, user := range config.Chpasswd.Users {
		f.passwords = append(f.passwords, user.Name+":"+user.Password)
	}
	switch list := config.Chpasswd.List.(type) {
	case string:
		f.passwords = append(f.passwords, strings.Fields(list)...)
	case []any:
		for _, line := range list {
			f.passwords = append(f.passwords, fmt.Sprint(line))
		}
	}
	if len(config.WriteFiles) > 0 {
		written, err := writer(config.WriteFiles)
		if err != nil {
			return err
		}
		f.scripts = append(f.scripts, written)
	}
	if commands := slices.Concat(config.BootCmd, config.RunCmd); len(commands) > 0 {
		f.scripts = append(f.scripts, script(commands))
	}
	return nil
}

// script is a script of commands.
func script(commands []any) []byte {
	var out bytes.Buffer
	out.WriteString("#!/bin/sh\n")
	for _, command := range commands {
		words, isList := command.([]any)
		if !isList {
			fmt.Fprintln(&out, command)
			continue
		}
		for _, word := range words {
			fmt.Fprintf(&out, "%s ", shell.Quote(fmt.Sprint(word)))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// decode reads a text that is encoded in one of the ways of cloud-init and of messages.
func decode(encoding string, in io.Reader) ([]byte, error) {
	encoding = strings.ToLower(encoding)
	if strings.Contains(encoding, "b64") || strings.Contains(encoding, "base64") {
		in = base64.NewDecoder(base64.StdEncoding, in)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return unzip(data)
}

// unzip expands what is compressed.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
