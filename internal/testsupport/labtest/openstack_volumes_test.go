package labtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestOpenStackVolumes gives a server one volume at its start and another one while it runs, writes to
// them in the server, and finds that again after a stop, and on another server; nothing is left of what
// was detached and deleted. What a server writes that boots from a volume stays in it.
func TestOpenStackVolumes(t *testing.T) {
	lab := labtest.OpenStackServers(t)
	system := newVolume(t, lab, map[string]any{"imageRef": lab.Images["ubuntu-22.04"]})
	data := newVolume(t, lab, nil)
	system.is(t, "available")
	data.is(t, "available")
	one := newServer(t, lab, "one", map[string]any{
		"networks": on(lab, "net0"),
		"block_device_mapping_v2": []map[string]any{
			{"uuid": lab.Images["ubuntu-22.04"], "source_type": "image", "destination_type": "local", "boot_index": 0},
			{"uuid": system.id, "source_type": "volume", "destination_type": "volume", "boot_index": -1},
		},
	})
	two := newServer(t, lab, "two", map[string]any{"networks": on(lab, "net0")})
	first, second := one.active(t).address(t, "net0"), two.active(t).address(t, "net0")
	system.is(t, "in-use")

	data.attach(t, one)
	shell := login(t, first, "ubuntu", ssh.Password("ubuntu"))
	assert.Equal(t, "the lab's ubuntu-22.04", command(t, shell, "sudo head -c 22 /dev/vdb"), "the volume of the image begins with")
	if got := command(t, shell, "cd /dev && for disk in vd*; do echo $disk $(sudo blockdev --getsize64 $disk); done"); got != "vdb 1073741824\nvdc 1073741824\n" {
		t.Errorf("the disks of the server are %q", got)
	}
	command(t, shell, "echo hello | sudo dd of=/dev/vdc conv=fsync 2>&1")

	one.do(t, "os-stop")
	one.is(t, "SHUTOFF")
	one.do(t, "os-start")
	one.active(t)
	shell = login(t, first, "ubuntu", ssh.Password("ubuntu"))
	assert.Equal(t, "hello", command(t, shell, "sudo head -c 5 /dev/vdc"), "after a stop the volume begins with")

	data.detach(t, one)
	assert.Equal(t, "/dev/vdb\n", command(t, shell, "ls /dev/vd*"), "when one volume has gone there")
	lab.Post(t, "block-storage", "/volumes/"+data.id+"/action", map[string]any{"os-extend": map[string]any{"new_size": 2}}, nil)
	data.is(t, "available")
	data.attach(t, two)
	shell = login(t, second, "ubuntu", ssh.Password("ubuntu"))
	if got := command(t, shell, "sudo head -c 5 /dev/vdb && sudo blockdev --getsize64 /dev/vdb"); got != "hello2147483648\n" {
		t.Errorf("on another server, grown, the volume has %q", got)
	}

	// The volumes of a deleted server are free again.
	lab.Delete(t, "compute", two.path)
	data.is(t, "available")
	lab.Delete(t, "block-storage", "/volumes/"+data.id)
	data.is(t, "")
	_, err := os.Stat(filepath.Join(lab.Dir, "data", "volumes", "volume-"+data.id))
	require.ErrorIs(t, err, os.ErrNotExist, "the file of a deleted volume")

	system.detach(t, one)
	booting := newServer(t, lab, "booting", map[string]any{
		"imageRef": "", "networks": on(lab, "net0"),
		"block_device_mapping_v2": []map[string]any{{"uuid": system.id, "source_type": "volume", "destination_type": "volume", "boot_index": 0}},
	})
	shell = login(t, booting.active(t).address(t, "net0"), "ubuntu", ssh.Password("ubuntu"))
	command(t, shell, "echo kept | sudo tee /etc/kept && test -b /dev/vda")
	lab.Delete(t, "compute", booting.path)
	system.is(t, "available")
	again := newServer(t, lab, "again", map[string]any{
		"imageRef": "", "networks": on(lab, "net0"),
		"block_device_mapping_v2": []map[string]any{{"uuid": system.id, "source_type": "volume", "destination_type": "volume", "boot_index": 0}},
	})
	shell = login(t, again.active(t).address(t, "net0"), "ubuntu", ssh.Password("ubuntu"))
	assert.Equal(t, "kept\nagain\n", command(t, shell, "cat /etc/kept && hostname"), "another server that boots from the volume has")
}

// volume is one under test.
type volume struct {
	lab labtest.OpenStackEnv
	id  string
}

// newVolume has Cinder make a volume of a GiB, which ends with the test.
func newVolume(t *testing.T, lab labtest.OpenStackEnv, more map[string]any) volume {
	t.Helper()
	wanted := map[string]any{"size": 1}
	for key, value := range more {
		wanted[key] = value
	}
	var made struct{ Volume struct{ ID string } }
	lab.Post(t, "block-storage", "/volumes", map[string]any{"volume": wanted}, &made)
	v := volume{lab: lab, id: made.Volume.ID}
	t.Cleanup(func() {
		// Its server goes by and by.
		labtest.Eventually(t, serverPatience, "the volume to be free", func() error {
			if status := v.status(t); status == "in-use" || status == "detaching" {
				return fmt.Errorf("it is %s", status)
			}
			return nil
		})
		lab.Delete(t, "block-storage", "/volumes/"+v.id)
	})
	return v
}

// status is that of a volume; empty for one that is gone.
func (v volume) status(t *testing.T) string {
	t.Helper()
	var list struct{ Volumes []struct{ ID, Status string } }
	v.lab.Get(t, "block-storage", "/volumes/detail", &list)
	for _, each := range list.Volumes {
		if each.ID == v.id {
			return each.Status
		}
	}
	return ""
}

// is waits until a volume has a status.
func (v volume) is(t *testing.T, status string) {
	t.Helper()
	labtest.Eventually(t, serverPatience, "volume "+v.id+" "+status, func() error {
		got := v.status(t)
		require.False(t, strings.HasPrefix(got, "error"), "volume %s is %s", v.id, got)
		if got != status {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

func (v volume) attach(t *testing.T, s server) {
	t.Helper()
	v.lab.Post(t, "compute", s.path+"/os-volume_attachments", map[string]any{"volumeAttachment": map[string]any{"volumeId": v.id}}, nil)
	v.is(t, "in-use")
}

func (v volume) detach(t *testing.T, s server) {
	t.Helper()
	v.lab.Delete(t, "compute", s.path+"/os-volume_attachments/"+v.id)
	v.is(t, "available")
}
