package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/storetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// quick has leases that tests can wait for.
func quick() timing {
	t := defaultTiming()
	t.lease, t.renew = 3*time.Second, time.Second
	return t
}

// testContent is the bound of contents in the suite, which keeps one of 8 MiB.
const testContent = 9<<20 + 5

// childAddress is set in the processes of the suite, which need no server of their own.
const childAddress = "STORETEST_ADDRESS"

// address is that of a store in the suite: a schema and a connection string.
func address(schema, connStr string) string { return schema + "|" + connStr }

func openAddress(ctx context.Context, address string) (store.Store, error) {
	schema, connStr, _ := strings.Cut(address, "|")
	return open(ctx, Config{ConnStr: connStr, Schema: schema, Release: "test"}, quick(), testContent)
}

func TestConformance(t *testing.T) {
	connStr := ""
	if os.Getenv(childAddress) == "" {
		connStr = pgtest.Start(t).ConnStr("postgres")
	}
	var schemas atomic.Int32
	storetest.Run(t, storetest.Backend{
		New:    func(*testing.T) string { return address(fmt.Sprintf("Store %d", schemas.Add(1)), connStr) },
		Open:   openAddress,
		Damage: damage,
		Lease:  quick().lease,
		// Time is the server's.
		OpenAt: func(ctx context.Context, address string, _ func() time.Time) (store.Store, error) {
			return openAddress(ctx, address)
		},
		Break:      breakAt,
		TriesAgain: true, MaxContent: testContent,
	})
}

// damage flips a bit of a content.
func damage(t *testing.T, address, digest string) {
	t.Helper()
	schema, connStr, _ := strings.Cut(address, "|")
	conn, err := pgx.Connect(t.Context(), connStr)
	require.NoError(t, err)
	defer conn.Close(t.Context()) //nolint:errcheck // It was read from alone.
	tag, err := conn.Exec(t.Context(), (&pgStore{place: place{schema: schema}}).sql(`UPDATE {schema}.chunks SET data = set_byte(data, length(data) / 2, get_byte(data, length(data) / 2) # 1)
		WHERE n = 0 AND generation = (SELECT generation FROM {schema}.contents WHERE digest = $1 AND state = 'current')`), digest)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%s: %v", tag, err)
	}
}
