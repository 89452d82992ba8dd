package yamlpos

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// mark is the byte order mark. Editors on Windows write it first, so joined files contain it.
var mark = []byte("\ufeff")

// withoutMarks drops the byte order marks at the beginning of lines, where documents begin.
func withoutMarks(data []byte) []byte {
	data = bytes.TrimPrefix(data, mark)
	if !bytes.Contains(data, mark) {
		return data
	}
	return bytes.ReplaceAll(data, append([]byte("\n"), mark...), []byte("\n"))
}

// separated makes documents of JSON values that follow one another, as `kubectl get -o json` and jq write them. Their lines stay, unless
// two values share one.
func separated(data []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return data
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var out []byte
	for from := 0; ; {
		var value json.RawMessage
		err := decoder.Decode(&value)
		switch {
		case errors.Is(err, io.EOF):
			return append(out, data[from:]...)
		case err != nil:
			return data // No JSON; YAML perhaps.
		}
		begin := int(decoder.InputOffset()) - len(value)
		if from > 0 {
			if line := bytes.LastIndexByte(data[from:begin], '\n'); line >= 0 {
				begin = from + line + 1
			} else {
				out = append(out, '\n')
			}
			out = append(append(out, data[from:begin]...), "--- "...)
			from = begin
		}
		end := int(decoder.InputOffset())
		out = append(out, data[from:end]...)
		from = end
	}
}
