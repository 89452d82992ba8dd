package stores

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// TestRemoteStores moves a store to PostgreSQL and to Kubernetes, and back, by migration and by backup.
func TestRemoteStores(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T) (places []string, says string){
		"postgres": func(t *testing.T) (places []string, says string) {
			t.Helper()
			t.Setenv(envConnStr, pgtest.Start(t).ConnStr("postgres"))
			return []string{"postgres", "postgres:other", "postgres:large", "postgres:onboarded"}, "schema vnf"
		},
		"kubernetes": func(t *testing.T) (places []string, says string) {
			t.Helper()
			lab := labtest.Kubernetes(t)
			t.Setenv(connect.EnvKubeconfig, lab.Kubeconfig)
			for range 4 {
				places = append(places, "kubernetes:"+lab.Namespace(t))
			}
			return places, "namespace " + strings.TrimPrefix(places[0], "kubernetes:")
		},
	} {
		t.Run(name, func(t *testing.T) {
			without(t)
			places, says := prepare(t)
			remote, other := places[0], places[1]
			t.Run("large file", func(t *testing.T) { testLargeFile(t, places[2], places[3]) })
			from, dir := newStore(t), t.TempDir()
			key := filepath.Join(filepath.Dir(from), "key.txt")
			back, again, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "again", "store.db"), filepath.Join(dir, "backup.zip")
			for i, step := range []struct {
				args []string
				code int
				want []string
			}{
				{[]string{"check", remote}, 0, []string{"0 records, 0 contents, 0 damaged"}},
				{[]string{"migrate", "--from", remote, "--to", back}, cli.ExitUsage, []string{"no records"}},
				{[]string{"migrate", "--from", from, "--to", remote}, 0, []string{"5 records and 3 contents", says, "The key was copied as well: the key file " + key + " is now the key that the store itself keeps"}},
				{[]string{"migrate", "--from", from, "--to", remote}, 0, []string{"were there already"}},
				{[]string{"check", remote, "--key-file", key}, 0, []string{"6 records, 3 contents, 0 damaged"}},
				{[]string{"check", remote}, 0, []string{"6 records, 3 contents, 0 damaged\n"}},
				{[]string{"migrate", "--from", remote, "--to", back}, 0, []string{"5 records and 3 contents", "is now the key file " + filepath.Join(dir, "key.txt")}},
				{[]string{"check", back}, 0, []string{"5 records, 3 contents, 0 damaged\n"}},
				{[]string{"backup", remote, "--file", file}, 0, []string{"6 records and 3 contents"}},
				{[]string{"restore", other, "--file", file}, 0, []string{"6 records and 3 contents"}},
				{[]string{"restore", other, "--file", file}, 0, []string{"were there already"}},
				{[]string{"migrate", "--from", other, "--to", again}, 0, []string{"5 records and 3 contents"}},
			} {
				t.Run(fmt.Sprint(i, " ", step.args[0]), func(t *testing.T) {
					run(t, append([]string{"store"}, step.args...)...).want(t, step.code, step.want...)
				})
			}
			source := openLocalStore(t, from)
			wantAlike(t, source, openLocalStore(t, back))
			wantAlike(t, source, openLocalStore(t, again))
		})
	}
}

// TestCheckOfPostgres finds damage that somebody has done in the database.
func TestCheckOfPostgres(t *testing.T) {
	server := pgtest.Start(t)
	without(t)
	t.Setenv(envConnStr, server.ConnStr("postgres"))
	from := newStore(t)
	run(t, "store", "migrate", "--from", from, "--to", "postgres").want(t, 0)
	server.Exec(t, "postgres", "UPDATE vnf.chunks SET data = set_byte(data, 500, get_byte(data, 500) # 1) WHERE length(data) > 1000; DELETE FROM vnf.chunks WHERE length(data) < 1000")
	run(t, "store", "check", "postgres", "--key-file", filepath.Join(filepath.Dir(from), "key.txt")).want(t, cli.ExitFailure, "6 records, 3 contents, 3 damaged")
}
