//go:build linux

package bench

import (
	"fmt"
	"io"
	"os"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// farObjects is the size of the network function whose VIM and store are far away.
const farObjects = 60

// barStoreChain is how many requests of a plan or an apply may wait for one another besides those of the local store, without the set-up
// of a connection.
const barStoreChain = 3

// setUp is the number of round trips in which a client logs in to PostgreSQL, with a password and without TLS.
const setUp = 3

// BenchmarkStoreRoundTrips leads a network function through its life with each kind of store, when VIM and store are 100 ms away, and
// prints how many requests wait for one another.
func BenchmarkStoreRoundTrips(b *testing.B) {
	s := &stage{lab: labtest.Kubernetes(b), report: newReport(), tools: newTools(b)}
	s.audit = newAudit(b, s.lab.AuditLog)
	observer, err := newDynamic(s.lab, observeAgent)
	require.NoError(b, err)
	s.observer = observer
	s.lab, s.slow = distance(b, s.lab)
	w := newWorkload(b, farObjects, false)
	measures := map[storeRow][]storeMeasure{}
	for range b.N * lives(b) {
		for _, open := range []func(*testing.B, *stage) *site{localSite, farPostgresSite, kubernetesSite} {
			at := open(b, s)
			s.lead(b, w, byTerraform, func(l *life) {
				storeLife(l, at, func(step string, m storeMeasure) {
					k := storeRow{step, at.kind}
					measures[k] = append(measures[k], m)
				})
			})
		}
	}
	writeChains(os.Stdout, measures)
}

// farPostgresSite is a PostgreSQL behind the slow network.
func farPostgresSite(b *testing.B, s *stage) *site {
	at, server := postgresOf(b)
	host, port := s.slow.Relay(b, roundTrip, server.Port)
	at.argument = fmt.Sprintf("postgres = { conn_str = %q }", fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=postgres sslmode=disable",
		host, port, pgtest.Superuser, pgtest.Password))
	return at
}

// writeChains prints a line for each step and store.
func writeChains(w io.Writer, measures map[storeRow][]storeMeasure) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(t, "\nstep\tstore\tk\tmedian s\tadds s\tchain\tadds\tbar\tto store\tstatements\t\n")
	for _, step := range storeSteps {
		var local storeMeasure
		for _, kind := range storeKinds {
			all := measures[storeRow{step, kind}]
			if len(all) == 0 {
				continue
			}
			m := all[len(all)-1]
			if kind == localStore {
				local = m
			}
			bar := ""
			if kind != localStore && step != stepDestroy {
				bar = fmt.Sprint(barStoreChain)
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%+.2f\t%d\t%+d\t%s\t%d\t%d\t\n", step, kind, len(all), medianWall(all).Seconds(),
				(medianWall(all) - medianWall(measures[storeRow{step, localStore}])).Seconds(), m.chain, m.chain-local.chain, bar, m.toStore, m.statement)
		}
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(w, "Each request takes %s more. A client logs in to PostgreSQL in %d round trips, which are counted, and are none of the bar.\n", roundTrip, setUp)
}
