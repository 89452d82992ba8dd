package main

import (
	"context"
	"fmt"
	"time"

	goversion "github.com/hashicorp/go-version"
	hcproduct "github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"
)

// downloadTimeout bounds the attempt: without a network the build from source should begin soon.
const downloadTimeout = 3 * time.Minute

// download fetches the release of Terraform into dir; hc-install verifies the signature of the checksums, and the checksum.
func download(ctx context.Context, _ product, version, dir string) (string, error) {
	parsed, err := goversion.NewVersion(version)
	if err != nil {
		return "", fmt.Errorf("parse version %q: %w", version, err)
	}
	exact := &releases.ExactVersion{
		Product:    hcproduct.Terraform,
		Version:    parsed,
		InstallDir: dir,
		Timeout:    downloadTimeout,
	}
	binary, err := exact.Install(ctx)
	if err != nil {
		return "", fmt.Errorf("download terraform %s from releases.hashicorp.com: %w", version, err)
	}
	return binary, nil
}
