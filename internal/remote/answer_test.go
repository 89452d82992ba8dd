package remote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// Whatever the password of a host is, an answer is what was written.
func TestAnswerIsExact(t *testing.T) {
	// The last two are what the answer is on its way.
	for _, password := range []string{"ubuntu", "dWJ1bnR1", "J1bnR1"} {
		host := sshtest.New(t, sshtest.Options{Password: password})
		client, err := remote.Dial(t.Context(), host.Host(), 10*time.Second)
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		got, err := client.Answer(t.Context(), remote.Command{What: "ask", Script: `printf 'ubuntu %s\n' "$1"; cat`, Args: []string{"a  b"}, Stdin: strings.NewReader("ä\nc\n")})
		require.NoError(t, err)
		assert.Equal(t, "ubuntu a  b\nä\nc", got, password)
	}
}

func TestAnswerFails(t *testing.T) {
	host := sshtest.New(t, sshtest.Options{})
	client, err := remote.Dial(t.Context(), host.Host(), 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	_, err = client.Answer(t.Context(), remote.Command{What: "ask", Script: "echo why >&2; exit 3"})
	var failed *remote.StatusError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 3, failed.Status)
	assert.Equal(t, "why\n", failed.Result.Stderr)
	_, err = client.Answer(t.Context(), remote.Command{What: "ask", Script: "head -c 100000 /dev/zero | tr '\\0' x"})
	require.ErrorContains(t, err, "the answer is too long")
}
