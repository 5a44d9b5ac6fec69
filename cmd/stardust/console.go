package main

import (
	"io"

	"github.com/vbauerster/cupwriter"
)

// console is where bars are drawn. Terminals that don't know their size, as some
// in containers and scripts do, are taken for classic ones; the library would
// draw nothing on them.
type console struct{ *cupwriter.Writer }

func newConsole(out io.Writer) console { return console{cupwriter.New(out, false)} }

// GetTermSize returns the columns and rows of the terminal.
func (c console) GetTermSize() (width, height int, err error) {
	width, height, err = c.Writer.GetTermSize()
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	return width, height, err
}
