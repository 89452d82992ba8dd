package heat

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// An image that a package brings is in Glance once for all instances of the project: it is
// found by the digest of its content. Each instance that uses it leaves a tag, and who
// takes the last tag away deletes the image.
const (
	imageDigestPrefix = "vnf-image:"
	imageUserPrefix   = "vnf-instance:"
)

func digestTag(digest string) string { return imageDigestPrefix + digest }

func userTag(i *vnfm.Instance) string { return imageUserPrefix + i.ID }

// bundled is the file of the package that an image is; nil when it is none.
func bundled(p *vnfm.Package, image *vnfm.SWImage) *vnfm.PackageFile {
	if image.File == "" || strings.Contains(image.File, "://") {
		return nil
	}
	// A path in a VNFD is relative to the VNFD or to the package: packages do both.
	clean := strings.TrimLeft(path.Clean(image.File), "./")
	for i := range p.Files {
		if f := &p.Files[i]; f.Path == clean || strings.HasSuffix(f.Path, "/"+clean) {
			return f
		}
	}
	return nil
}

// takeImage waits until no other instance of this process uploads or deletes the image with
// a digest tag on the VIM.
func (s *session) takeImage(ctx context.Context, tag string) (leave func(), err error) {
	return s.images.take(ctx, s.target.VIM.ID+" "+tag)
}

// findImage returns the id of the image in Glance that is a file of the package; empty when
// it is not there.
func (s *session) findImage(ctx context.Context, file *vnfm.PackageFile) (string, error) {
	found, err := s.client.TaggedImages(ctx, digestTag(file.Digest))
	if i := slices.IndexFunc(found, isActive); i >= 0 {
		return found[i].ID, err
	}
	return "", err
}

func isActive(i openstack.StoredImage) bool { return i.Status == openstack.ImageActive }

// provideImage returns the id of the image in Glance that is a file of the package, noted as
// one that the instance uses, and uploads it when it is not there. An upload that broke off
// left an image that is not active, which is removed. Of several instances in one apply the
// first one uploads.
func (s *session) provideImage(ctx context.Context, image *vnfm.SWImage, file *vnfm.PackageFile) (string, error) {
	tag, user := digestTag(file.Digest), userTag(s.target.Instance)
	leave, err := s.takeImage(ctx, tag)
	if err != nil {
		return "", fmt.Errorf("waiting for image %s, which another instance uploads: %w", image.Name, err)
	}
	defer leave()
	found, err := s.client.TaggedImages(ctx, tag)
	if err != nil {
		return "", err
	}
	for _, each := range found {
		switch used := slices.Contains(each.Tags, user); {
		case isActive(each) && used:
			return each.ID, nil
		case isActive(each):
			return each.ID, s.client.TagImage(ctx, each.ID, user)
		case used:
			if err := s.client.DeleteImage(ctx, each.ID); err != nil {
				return "", err
			}
		}
	}
	content, err := s.target.Package.ContentIn(ctx).Open(file.Path)
	if err != nil {
		return "", fmt.Errorf("reading image %s of the package: %w", file.Path, err)
	}
	defer content.Close() //nolint:errcheck // A file that was only read.
	s.progress(ctx, fmt.Sprintf("uploading image %s (%d MiB)", image.Name, file.Size/mebibyte))
	id, err := s.client.CreateImage(ctx, openstack.NewImage{
		Name: image.Name, ContainerFormat: cmp.Or(strings.ToLower(image.ContainerFormat), "bare"), DiskFormat: cmp.Or(strings.ToLower(image.DiskFormat), "qcow2"),
		MinDiskGiB: int((image.MinDiskBytes + gibibyte - 1) / gibibyte), MinRAMMiB: int((image.MinRAMBytes + mebibyte - 1) / mebibyte),
		Tags: []string{tag, user},
	})
	if err != nil {
		return "", err
	}
	return id, s.client.UploadImage(ctx, id, image.Name, content)
}

// releaseImages gives up the images that the instance uses, or those but some: the last one
// to leave deletes.
func (s *session) releaseImages(ctx context.Context, keep []string) error {
	found, err := s.client.TaggedImages(ctx, userTag(s.target.Instance))
	if err != nil {
		return err
	}
	for _, each := range found {
		i := slices.IndexFunc(each.Tags, func(tag string) bool { return strings.HasPrefix(tag, imageDigestPrefix) })
		if i < 0 || slices.Contains(keep, each.ID) {
			continue
		}
		if err := s.releaseImage(ctx, each.ID, each.Tags[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) releaseImage(ctx context.Context, id, tag string) error {
	leave, err := s.takeImage(ctx, tag)
	if err != nil {
		return err
	}
	defer leave()
	found, err := s.client.TaggedImages(ctx, tag)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found, func(i openstack.StoredImage) bool { return i.ID == id })
	if i < 0 {
		return nil
	}
	user := userTag(s.target.Instance)
	if slices.ContainsFunc(found[i].Tags, func(tag string) bool { return strings.HasPrefix(tag, imageUserPrefix) && tag != user }) {
		return s.client.UntagImage(ctx, id, user)
	}
	return s.client.DeleteImage(ctx, id)
}
