package openstack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// The database listens on a socket in the directory of its lab alone; only root reaches that, and needs no password.
const (
	databaseUser   = "lab"
	databaseFolder = "mysql"
	databaseSocket = "mysql.sock"
	databaseInit   = "init.sql"

	databaseSocketInside = inside + "/run/" + databaseSocket
)

// databaseURL is how a service reaches its database.
func databaseURL(name string) string {
	return "mysql+pymysql://" + databaseUser + "@localhost/" + name + "?unix_socket=" + databaseSocketInside
}

// databaseCommand is the database server. It does not wait for the disk, for a lab is thrown away; what is committed is written at
// once all the same, so that a kill loses none of it.
func databaseCommand(more ...string) []string {
	return append([]string{
		"mariadbd", "--no-defaults", "--user=root",
		"--datadir=" + filepath.Join(inside, "data", databaseFolder),
		"--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--skip-innodb-doublewrite", "--skip-log-bin",
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF",
		"--character-set-server=utf8mb3", "--skip-networking", "--max-connections=1000",
	}, more...)
}

// databaseServer is the command of a database that serves.
func databaseServer() []string {
	return databaseCommand(
		"--socket="+databaseSocketInside,
		"--pid-file="+filepath.Join(inside, "run", "mysql.pid"),
	)
}

// createDatabases makes the data folder of a database server, with its user and empty databases.
func (r root) createDatabases(ctx context.Context, dir layout.Dir, chosen []service) error {
	if err := os.MkdirAll(dir.Path("data", databaseFolder), 0o700); err != nil {
		return fmt.Errorf("making the folder of the database: %w", err)
	}
	script := bytes.NewBufferString("CREATE DATABASE mysql;\nUSE mysql;\n")
	for _, name := range []string{"mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"} {
		text, err := os.ReadFile(r.path("usr", "share", "mysql", name))
		if err != nil {
			return fmt.Errorf("reading the tables of the database server: %w", err)
		}
		script.Write(text)
		script.WriteByte('\n')
	}
	// The server takes one statement a line.
	script.WriteString("FLUSH PRIVILEGES;\n")
	fmt.Fprintf(script, "CREATE USER %s@localhost;\nGRANT ALL ON *.* TO %s@localhost;\n", databaseUser, databaseUser)
	for _, s := range chosen {
		for _, name := range s.databases {
			fmt.Fprintf(script, "CREATE DATABASE %s;\n", name)
		}
	}
	return r.run(ctx, dir, script.Bytes(), databaseCommand("--bootstrap")...)
}

// catalogueSQL has the catalogue of a lab that was copied tell the lab's own services and addresses. The server reads it at
// each start.
func catalogueSQL(state *layout.OpenStack, chosen []service) []byte {
	var script bytes.Buffer
	var kinds []string
	for _, s := range chosen {
		if s.internal {
			continue
		}
		kinds = append(kinds, s.kinds()...)
		fmt.Fprintf(&script, "UPDATE keystone.endpoint SET url = '%s' WHERE service_id IN (SELECT id FROM keystone.service WHERE type IN ('%s'));\n",
			endpoint(state.Ports, s), strings.Join(s.kinds(), "', '"))
	}
	unlisted := "type NOT IN ('" + strings.Join(kinds, "', '") + "')"
	fmt.Fprintf(&script, "DELETE FROM keystone.endpoint WHERE service_id IN (SELECT id FROM keystone.service WHERE %s);\n", unlisted)
	fmt.Fprintf(&script, "DELETE FROM keystone.service WHERE %s;\n", unlisted)
	return script.Bytes()
}

// socketReady connects to a socket of a lab.
func socketReady(ctx context.Context, dir layout.Dir, name string) error {
	conn, err := dialSocket(ctx, dir.Path("run", name))
	if err != nil {
		return fmt.Errorf("socket %s does not answer: %w", name, err)
	}
	return conn.Close()
}
