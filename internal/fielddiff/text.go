package fielddiff

import (
	"fmt"
	"strings"
)

const (
	// maxLines is how many changed lines of a text are shown.
	maxLines = 3
	// maxCompared bounds the lines that are compared one with another: what is between the first and the last difference of longer texts is
	// counted alone.
	maxCompared = 400
)

// texts compares two texts without secrets line by line.
func (d *differ) texts(path, old, now string) {
	was, is := lines(old), lines(now)
	begin := 0
	for begin < len(was) && begin < len(is) && was[begin] == is[begin] {
		begin++
	}
	end := 0
	for end < len(was)-begin && end < len(is)-begin && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	was, is = was[begin:len(was)-end], is[begin:len(is)-end]
	if len(was) > maxCompared || len(is) > maxCompared {
		d.say(path, "%d lines replaced by %d, from line %d", len(was), len(is), begin+1)
		return
	}
	found := editScript(was, is)
	for i, e := range found {
		if i == maxLines {
			d.say(path, "and %d more changed lines", len(found)-i)
			return
		}
		at := fmt.Sprintf("%s, line %d", path, begin+1+e.line)
		switch {
		case e.had && e.has:
			d.line(at, strings.TrimSpace(e.old), strings.TrimSpace(e.now))
		case e.has:
			d.say(at, "added %s", shortText(strings.TrimSpace(d.masks.Line(e.now))))
		default:
			d.say(at, "removed, was %s", shortText(strings.TrimSpace(d.masks.Line(e.old))))
		}
	}
	if len(found) == 0 {
		d.say(path, "the end of its last line")
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// edit is one line that differs: replaced, added or removed. line counts from 0, in the new text unless the line is removed.
type edit struct {
	line     int
	old, now string
	had, has bool
}

// editScript finds the fewest lines that differ. A removal beside an addition is a replacement.
func editScript(old, now []string) []edit {
	// length[i][j] is the length of the longest common subsequence of old[i:] and new[j:].
	length := make([][]int, len(old)+1)
	for i := range length {
		length[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []edit
	var removed []edit
	i, j := 0, 0
	flush := func() { out, removed = append(out, removed...), nil }
	for i < len(old) || j < len(now) {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			flush()
			i, j = i+1, j+1
		case i < len(old) && (j == len(now) || length[i+1][j] >= length[i][j+1]):
			removed = append(removed, edit{line: i, old: old[i], had: true})
			i++
		case len(removed) > 0:
			e := removed[0]
			removed = removed[1:]
			out = append(out, edit{line: j, old: e.old, now: now[j], had: true, has: true})
			j++
		default:
			out = append(out, edit{line: j, now: now[j], has: true})
			j++
		}
	}
	flush()
	return out
}
