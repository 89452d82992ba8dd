package openstack

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// StoredImage is an image of Glance with what it is kept for.
type StoredImage struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Status    string    `json:"status"`
	Tags      []string  `json:"tags"`
	CreatedAt time.Time `json:"created_at"`
	Owner     string    `json:"owner"`
}

// ImageActive is the status of an image that servers can be made of.
const ImageActive = "active"

// NewImage is an image that is to be made.
type NewImage struct {
	Name            string
	ContainerFormat string
	DiskFormat      string
	MinDiskGiB      int
	MinRAMMiB       int
	Tags            []string
}

// TaggedImages finds the images that carry a tag.
func (c *Client) TaggedImages(ctx context.Context, tag string) ([]StoredImage, error) {
	return list[StoredImage](ctx, c, call{doing: "looking for images", service: ServiceImage, path: "/images", query: url.Values{"tag": {tag}, "sort": {"created_at:asc"}}}, "images")
}

// CreateImage makes an image that has no content yet, and returns its id.
func (c *Client) CreateImage(ctx context.Context, i NewImage) (string, error) {
	var out StoredImage
	err := c.do(ctx, call{
		doing: "creating image " + i.Name, service: ServiceImage, method: http.MethodPost, path: "/images", out: &out, ok: []int{http.StatusCreated},
		body: map[string]any{
			"name": i.Name, "container_format": i.ContainerFormat, "disk_format": i.DiskFormat, "min_disk": i.MinDiskGiB, "min_ram": i.MinRAMMiB,
			"tags": i.Tags, "visibility": "private",
		},
	})
	return out.ID, err
}

// UploadImage gives an image its content. It is sent once: a body that was read cannot be
// sent again.
func (c *Client) UploadImage(ctx context.Context, id, name string, content io.Reader) error {
	return c.do(ctx, call{
		doing: "uploading image " + name, service: ServiceImage, method: http.MethodPut, path: "/images/" + url.PathEscape(id) + "/file",
		content: content, ok: []int{http.StatusNoContent},
	})
}

// TagImage puts a tag on an image.
func (c *Client) TagImage(ctx context.Context, id, tag string) error {
	return c.do(ctx, call{
		doing: "tagging image " + id, service: ServiceImage, method: http.MethodPut, path: imageTag(id, tag), ok: []int{http.StatusNoContent},
	})
}

// UntagImage takes a tag from an image.
func (c *Client) UntagImage(ctx context.Context, id, tag string) error {
	return c.remove(ctx, "taking a tag from image "+id, ServiceImage, imageTag(id, tag), nil)
}

// DeleteImage deletes an image.
func (c *Client) DeleteImage(ctx context.Context, id string) error {
	return c.remove(ctx, "deleting image "+id, ServiceImage, "/images/"+url.PathEscape(id), nil)
}

func imageTag(id, tag string) string {
	return "/images/" + url.PathEscape(id) + "/tags/" + url.PathEscape(tag)
}
