// Package vnfd reads VNF descriptors (ETSI GS NFV-SOL 001, TOSCA Simple Profile in
// YAML) and does the arithmetic of scaling aspects and instantiation levels.
//
// It is pure: nothing is fetched and nothing is executed. Every finding carries
// file, line and column, and reading goes on after a finding, so that one run
// shows all that is wrong.
//
// Scalars are taken as the text that was written (version 1.10 stays "1.10"),
// because YAML 1.1 and 1.2 disagree on what unquoted versions, dates, yes and on are.
package vnfd
