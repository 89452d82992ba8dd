package servers

import (
	"bytes"
	"compress/gzip"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUserData(t *testing.T) {
	const command = "#!/bin/sh\ntouch /ran\n"
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(command)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data    string
		want    firstBoot
		problem string
	}{
		"nothing":        {},
		"something else": {data: "hello"},
		"script":         {data: command, want: firstBoot{scripts: [][]byte{[]byte(command)}}},
		"compressed":     {data: zipped.String(), want: firstBoot{scripts: [][]byte{[]byte(command)}}},
		"keys and passwords": {
			data: "#cloud-config\nssh_authorized_keys: [ssh-ed25519 AAAA a]\npassword: one\nchpasswd: {expire: false, list: \"root:two\\nguest:three\\n\"}\nusers: []\n",
			want: firstBoot{keys: []string{"ssh-ed25519 AAAA a"}, passwords: []string{"ubuntu:one", "root:two", "guest:three"}},
		},
		"passwords of today": {
			data: "#cloud-config\nchpasswd: {users: [{name: root, password: two}]}\n",
			want: firstBoot{passwords: []string{"root:two"}},
		},
		"commands": {
			data: "#cloud-config\nruncmd:\n- echo $HOME\n- [echo, it's]\n",
			want: firstBoot{scripts: [][]byte{[]byte("#!/bin/sh\necho $HOME\n'echo' 'it'\\''s' \n")}},
		},
		"message": {
			data: "Content-Type: multipart/mixed; boundary=\"B\"\nMIME-Version: 1.0\n\n--B\nContent-Type: text/x-shellscript\n\n" + command +
				"\n--B\nContent-Type: text/part-handler\n\nimport os\n--B\nContent-Type: text/cloud-config\nContent-Transfer-Encoding: base64\n\n" +
				"I2Nsb3VkLWNvbmZpZwpwYXNzd29yZDogb25lCg==\n--B--\n",
			want: firstBoot{scripts: [][]byte{[]byte(command)}, passwords: []string{"ubuntu:one"}},
		},
		"no YAML":            {data: "#cloud-config\n{", problem: "reading the cloud-config of the user data"},
		"no base64":          {data: "#cloud-config\nwrite_files: [{path: /a, encoding: b64, content: '!'}]\n", problem: "reading the content of /a in the user data"},
		"message without it": {data: "MIME-Version: 1.0\nContent-Type: text/plain\n\nhello", problem: "a message of text/plain, which has no parts"},
	} {
		t.Run(name, func(t *testing.T) {
			var got firstBoot
			err := got.readUserData([]byte(test.data))
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Fatalf("got error %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(firstBoot{})); diff != "" {
				t.Errorf("first boot (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWriteFiles runs the script that files become.
func TestWriteFiles(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		if os.Getenv("LAB_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	var first firstBoot
	err = first.readUserData([]byte(strings.ReplaceAll(`#cloud-config
write_files:
- {path: DIR/a b/one, content: "it's\n", permissions: '0600'}
- {path: DIR/a b/one, content: aGVsbG8=, encoding: b64, append: true}
- {path: DIR/two, content: "", permissions: 0640}
`, "DIR", dir)))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, first.scripts[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), shell, script).CombinedOutput(); err != nil { //nolint:gosec // A script of the test.
		t.Fatalf("%v: %s", err, out)
	}
	one, err := os.ReadFile(filepath.Join(dir, "a b", "one"))
	if err != nil || string(one) != "it's\nhello" {
		t.Errorf("the first file holds %q, %v", one, err)
	}
	for name, want := range map[string]os.FileMode{"a b/one": 0o600, "two": 0o640} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestDefinitionCheck(t *testing.T) {
	card := Interface{
		Port: "0f7a2c4e-1111-4222-8333-444455556666", Network: "1f7a2c4e-1111-4222-8333-444455556666", MAC: "fa:16:3e:00:00:01",
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.5/24")},
	}
	for name, test := range map[string]struct {
		change  func(*Definition)
		problem string
	}{
		"good":           {change: func(*Definition) {}},
		"path as id":     {change: func(d *Definition) { d.ID = "../x" }, problem: `cannot have the id "../x"`},
		"no hostname":    {change: func(d *Definition) { d.Hostname = "" }, problem: `cannot have the hostname ""`},
		"short port":     {change: func(d *Definition) { d.Interfaces[0].Port = "a" }, problem: `port "a"`},
		"no MAC address": {change: func(d *Definition) { d.Interfaces[0].MAC = "x" }, problem: "invalid MAC address"},
		"path as volume": {change: func(d *Definition) { d.Volumes = []Volume{{File: "../x"}} }, problem: `cannot be the file "../x"`},
		"path as device": {change: func(d *Definition) { d.Volumes = []Volume{{File: "x", Device: "../x"}} }, problem: `cannot be the device "../x"`},
		"device for two": {change: func(d *Definition) { d.Volumes = []Volume{{File: "x"}, {File: "y", Device: "vdb"}} }, problem: `cannot be the device "vdb"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := Definition{ID: "a", Name: "instance-1", Hostname: "web", Interfaces: []Interface{card}}
			test.change(&d)
			err := d.check()
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}
