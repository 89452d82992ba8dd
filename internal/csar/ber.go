package csar

import (
	"errors"
	"fmt"
)

// maxBERDepth bounds the nesting of a CMS. The deepest element of a signature with its chain, an
// extension of a certificate, lies 14 levels deep.
const maxBERDepth = 48

const (
	tagConstructed = 0x20
	tagOctetString = 0x04
)

var errTruncated = errors.New("an element ends beyond the data")

// toDER returns the first element of data in DER as far as a decoder of DER needs it: with definite
// lengths, and with octet strings in one piece. CMS may be BER (RFC 5652 clause 4), which several
// signing tools write. Nothing may follow the element.
func toDER(data []byte) ([]byte, error) {
	e, rest, err := readBER(data, 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow the signature", len(rest))
	}
	return e.encode(), nil
}

// berElement is an element with the DER of its content.
type berElement struct {
	identifier []byte
	content    []byte
}

func (e berElement) encode() []byte {
	out := append([]byte(nil), e.identifier...)
	n := len(e.content)
	if n < 0x80 {
		out = append(out, byte(n))
	} else {
		var size []byte
		for ; n > 0; n >>= 8 {
			size = append([]byte{byte(n)}, size...)
		}
		out = append(append(out, 0x80|byte(len(size))), size...) //nolint:gosec // a length has eight bytes at most
	}
	return append(out, e.content...)
}

// readBER reads one element and returns what follows it.
func readBER(data []byte, depth int) (e berElement, rest []byte, err error) {
	if depth > maxBERDepth {
		return e, nil, fmt.Errorf("more than %d elements are nested", maxBERDepth)
	}
	header, length, err := readHeader(data)
	if err != nil {
		return e, nil, err
	}
	e.identifier = header.identifier
	body := data[header.size:]
	if length >= 0 {
		if length > len(body) {
			return e, nil, errTruncated
		}
		body, rest = body[:length], body[length:]
	}
	if e.identifier[0]&tagConstructed == 0 {
		e.content = body
		return e, rest, nil
	}
	joined := len(e.identifier) == 1 && e.identifier[0] == tagConstructed|tagOctetString
	for {
		switch {
		case length >= 0 && len(body) == 0:
			return e.finish(joined), rest, nil
		case length < 0 && len(body) >= 2 && body[0] == 0 && body[1] == 0:
			return e.finish(joined), body[2:], nil
		}
		var child berElement
		child, body, err = readBER(body, depth+1)
		if err != nil {
			return e, nil, err
		}
		if !joined {
			e.content = append(e.content, child.encode()...)
			continue
		}
		if len(child.identifier) != 1 || child.identifier[0] != tagOctetString {
			return e, nil, errors.New("an octet string has a part that is not an octet string")
		}
		e.content = append(e.content, child.content...)
	}
}

// finish turns a joined octet string into a primitive one.
func (e berElement) finish(joined bool) berElement {
	if joined {
		e.identifier = []byte{tagOctetString}
	}
	return e
}

type berHeader struct {
	identifier []byte
	// size is that of identifier and length together.
	size int
}

// readHeader reads identifier and length; the length is -1 for an indefinite one.
func readHeader(data []byte) (berHeader, int, error) {
	if len(data) < 2 {
		return berHeader{}, 0, errTruncated
	}
	end := 1
	if data[0]&0x1f == 0x1f {
		for end < len(data) && data[end]&0x80 != 0 {
			end++
		}
		end++
	}
	if end > 5 || end >= len(data) {
		return berHeader{}, 0, errTruncated
	}
	h := berHeader{identifier: data[:end], size: end + 1}
	first := data[end]
	switch {
	case first < 0x80:
		return h, int(first), nil
	case first == 0x80:
		if data[0]&tagConstructed == 0 {
			return h, 0, errors.New("a primitive element has no length")
		}
		return h, -1, nil
	}
	n := int(first & 0x7f)
	if n > 4 || h.size+n > len(data) {
		return h, 0, errTruncated
	}
	length := 0
	for _, b := range data[h.size : h.size+n] {
		length = length<<8 | int(b)
	}
	h.size += n
	return h, length, nil
}
