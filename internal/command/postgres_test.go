package command

import (
	"path/filepath"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/postgres"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// TestPostgres moves a store to PostgreSQL and back, by migration and by backup.
func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	without(t)
	t.Setenv(envConnStr, server.ConnStr("postgres"))
	from, dir := newStore(t), t.TempDir()
	key := filepath.Join(filepath.Dir(from), "key.txt")
	back, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "backup.zip")
	for _, step := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"check", "postgres"}, 0, []string{"0 records, 0 contents, 0 damaged"}},
		{[]string{"migrate", "--from", "postgres", "--to", back}, ExitUsage, []string{"no records"}},
		{[]string{"migrate", "--from", from, "--to", "postgres"}, 0, []string{"5 records and 3 contents", "schema vnf"}},
		{[]string{"migrate", "--from", from, "--to", "postgres"}, 0, []string{"were there already"}},
		{[]string{"check", "postgres", "--key-file", key}, 0, []string{"5 records, 3 contents, 0 damaged"}},
		{[]string{"check", "postgres"}, 0, []string{"there is no key"}},
		{[]string{"migrate", "--from", "postgres", "--to", back}, 0, []string{"5 records and 3 contents"}},
		{[]string{"backup", "postgres", "--file", file}, 0, []string{"5 records and 3 contents"}},
		{[]string{"restore", "postgres:other", "--file", file}, 0, []string{"schema other"}},
		{[]string{"restore", "postgres:other", "--file", file}, 0, []string{"were there already"}},
	} {
		run(t, append([]string{"store"}, step.args...)...).want(t, step.code, step.want...)
	}
	source := openLocalStore(t, from)
	wantAlike(t, source, openLocalStore(t, back))
	for _, schema := range []string{"vnf", "other"} {
		s, err := postgres.Open(t.Context(), postgres.Config{ConnStr: server.ConnStr("postgres"), Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		p, ok := s.(store.Portable)
		if !ok {
			t.Fatal("a store in PostgreSQL cannot be copied")
		}
		wantAlike(t, source, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	server.Exec(t, "postgres", "UPDATE vnf.chunks SET data = set_byte(data, 500, get_byte(data, 500) # 1) WHERE length(data) > 1000; DELETE FROM vnf.chunks WHERE length(data) < 1000")
	run(t, "store", "check", "postgres", "--key-file", key).want(t, ExitFailure, "5 records, 3 contents, 3 damaged")
}
