package budget

import (
	"errors"
	"io"
	"io/fs"
)

// ReadFile reads a file of which there is no more than may still be parsed. It takes nothing: the parser does.
func (b *Budget) ReadFile(fsys fs.FS, name string) ([]byte, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	left := b.Left()
	data, err := io.ReadAll(io.LimitReader(f, left+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > left {
		return nil, b.Bytes(int64(len(data)))
	}
	return data, nil
}
