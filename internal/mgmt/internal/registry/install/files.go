package install

import (
	"context"
	"maps"
	"slices"
)

// writeFiles writes certificate, key and users, removes unwanted ones, and returns the SHA-256 digests of the written files.
func (i *installer) writeFiles(ctx context.Context) (map[string]string, error) {
	wanted, err := i.wantedFiles(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		content, ok := wanted[name]
		if !ok {
			continue
		}
		sums[name] = sum(content)
		changed, err := i.write(ctx, i.file(name), content)
		if err != nil {
			return nil, err
		}
		if changed {
			i.report("written: " + i.file(name))
		}
	}
	for name := range attributes {
		if _, ok := wanted[name]; !ok && i.found.files[name] != "" {
			if err := i.do(ctx, call{what: "remove " + i.file(name), function: []string{"rm", "-f", i.file(name)}}); err != nil {
				return nil, err
			}
		}
	}
	return sums, nil
}

func (i *installer) wantedFiles(ctx context.Context) (map[string][]byte, error) {
	wanted := map[string][]byte{}
	if i.Secure() {
		wanted[fileCertificate], wanted[fileKey] = []byte(i.Certificate), []byte(i.Key.Reveal())
	}
	if len(i.Users) == 0 {
		return wanted, nil
	}
	present, err := i.presentUsers(ctx)
	if err != nil {
		return nil, err
	}
	wanted[fileUsers], err = htpasswd(present, i.Users)
	return wanted, err
}

func (i *installer) presentUsers(ctx context.Context) ([]byte, error) {
	if i.found.files[fileUsers] == "" {
		return nil, nil
	}
	return i.read(ctx, i.file(fileUsers))
}
