// Package csar reads VNF packages as ETSI GS NFV-SOL 004 describes them: a CSAR,
// as a directory or a zip archive, with or without TOSCA-Metadata, its manifest,
// the digests of its files and its signature (security option 1 and 2).
//
// The package does no network access and runs nothing that a package contains.
// Findings are vnfm.Problems with file, line and column; a reader goes on after a
// finding wherever it can, so that one run names all of them. Demands of SOL 004 that
// packages in use commonly ignore are warnings; an ambiguous, damaged or unusable package is
// an error.
//
// The usual way in is Open; Read works on any Archive, ParseManifest on
// single files. WriteZip, Hash, SignOption1 and SignOption2 are the packing side.
package csar
