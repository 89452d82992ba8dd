// Package remote reaches hosts over SSH: it runs commands there, as root where wanted, and
// reads and writes files. Host keys are verified always, secrets reach a host on standard
// input only, and nothing that it starts lives on when its context ends or the connection
// is cut.
//
// Files are written through the shell, not by SFTP: SFTP cannot write as root through
// sudo, and a hardened server may have none.
package remote
