package seal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// maxHeader bounds the first line of a sealed stream.
const maxHeader = 4096

// streamHeader is the first line of a sealed stream. An age file follows, whose own
// header wraps its data key and whose chunks cannot be changed, moved or cut off
// unseen.
type streamHeader struct {
	Version   int    `json:"v"`
	Scheme    string `json:"scheme"`
	Recipient string `json:"recipient"`
}

// sealWriter returns a writer that writes what is written to it to w, sealed. It is
// complete after Close, which does not close w. A missing key is made.
func (s *Store) sealWriter(ctx context.Context, w io.Writer) (io.WriteCloser, error) {
	id, err := s.sealing(ctx)
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(streamHeader{Version: version, Scheme: schemeAge, Recipient: id.Recipient().String()})
	if err != nil {
		return nil, fmt.Errorf("sealing a content: %w", err)
	}
	if _, err := w.Write(append(header, '\n')); err != nil {
		return nil, fmt.Errorf("sealing a content: %w", err)
	}
	sealed, err := age.Encrypt(w, id.Recipient())
	if err != nil {
		return nil, fmt.Errorf("sealing a content: %w", err)
	}
	return sealed, nil
}

// openReader returns a reader of the plain text of what sealWriter wrote. It returns
// a *WrongKeyError when no key fits. Content that was read is genuine also before the
// end is reached.
func (s *Store) openReader(ctx context.Context, r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, maxHeader)
	line, err := buffered.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: not the header of a sealed content: %w", errDamaged, err)
	}
	var h streamHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("%w: not the header of a sealed content: %w", errDamaged, err)
	}
	if err := checkForm(h.Version, h.Scheme, schemeAge); err != nil {
		return nil, err
	}
	id, err := s.opening(ctx, h.Recipient)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(buffered, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return &openedReader{r: plain}, nil
}

// errDamaged says that a sealed stream is not as it was written.
var errDamaged = errors.New("sealed content is damaged")

type openedReader struct{ r io.Reader }

func (o *openedReader) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return n, err
}
