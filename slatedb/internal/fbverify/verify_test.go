package fbverify_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/stardustdb/stardust/slatedb/internal/fbverify"
)

// leaf and tree are a schema with every kind of field.
func leaf() *fbverify.Table {
	return &fbverify.Table{Name: "Leaf", Fields: []fbverify.Field{{Name: "n", ID: 0, Kind: fbverify.Scalar, Size: 8}}}
}

func tree() *fbverify.Table {
	return &fbverify.Table{Name: "Tree", Fields: []fbverify.Field{
		{Name: "child", ID: 0, Kind: fbverify.Child, Table: leaf(), Required: true},
		{Name: "children", ID: 1, Kind: fbverify.Children, Table: leaf()},
		{Name: "text", ID: 2, Kind: fbverify.String},
		{Name: "numbers", ID: 3, Kind: fbverify.Scalars, Size: 4},
		{Name: "one", ID: 5, Kind: fbverify.OneOf, Types: map[byte]*fbverify.Table{1: leaf()}},
	}}
}

func addLeaf(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	b.StartObject(1)
	b.PrependUint64Slot(0, 7, 0)
	return b.EndObject()
}

// buildTree builds a tree whose union is of the given type.
func buildTree(text string, union byte) []byte {
	b := flatbuffers.NewBuilder(0)
	child, first, second, one := addLeaf(b), addLeaf(b), addLeaf(b), addLeaf(b)
	b.StartVector(4, 2, 4)
	b.PrependUOffsetT(second)
	b.PrependUOffsetT(first)
	children := b.EndVector(2)
	name := b.CreateString(text)
	b.StartVector(4, 1, 4)
	b.PrependUint32(9)
	numbers := b.EndVector(1)
	b.StartObject(6)
	b.PrependUOffsetTSlot(0, child, 0)
	b.PrependUOffsetTSlot(1, children, 0)
	b.PrependUOffsetTSlot(2, name, 0)
	b.PrependUOffsetTSlot(3, numbers, 0)
	b.PrependByteSlot(4, union, 0)
	b.PrependUOffsetTSlot(5, one, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func requireError(t *testing.T, err error, field, reason string) {
	t.Helper()
	bad, ok := errors.AsType[*fbverify.Error](err)
	if !ok || bad.Field != field || !strings.Contains(bad.Reason, reason) {
		t.Errorf("error %v, want one of %s about %q", err, field, reason)
	}
}

func TestWhatABuilderMakesIsValid(t *testing.T) {
	for _, union := range []byte{1, 2} { // 2 is a type that the description does not know
		if err := fbverify.Verify(buildTree("text", union), tree()); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyAllocatesNothing(t *testing.T) {
	buf, description := buildTree("text", 1), tree()
	if n := testing.AllocsPerRun(100, func() {
		if err := fbverify.Verify(buf, description); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestErrorsNameTheFieldAndTheReason(t *testing.T) {
	deep := leaf()
	for range fbverify.MaxDepth + 1 {
		deep = &fbverify.Table{Name: "Deep", Fields: []fbverify.Field{{Name: "d", ID: 0, Kind: fbverify.Child, Table: deep}}}
	}
	b := flatbuffers.NewBuilder(0)
	at := addLeaf(b)
	for range fbverify.MaxDepth + 1 {
		b.StartObject(1)
		b.PrependUOffsetTSlot(0, at, 0)
		at = b.EndObject()
	}
	b.Finish(at)
	requireError(t, fbverify.Verify(b.FinishedBytes(), deep), "Deep"+strings.Repeat(".d", fbverify.MaxDepth), "inside each other")

	requireError(t, fbverify.Verify(nil, tree()), "Tree", "ends before")
	requireError(t, fbverify.Verify([]byte{200, 0, 0, 0}, tree()), "Tree", "beyond the end")
	requireError(t, fbverify.Verify(buildTree("bad \xff text", 1), tree()), "Tree.text", "UTF-8")
	requireError(t, fbverify.Verify(buildTree("text", 0), tree()), "Tree.one", "without its type")

	b = flatbuffers.NewBuilder(0)
	b.StartObject(1)
	b.Finish(b.EndObject())
	requireError(t, fbverify.Verify(b.FinishedBytes(), tree()), "Tree.child", "missing")
}

// Vectors whose elements are all one table whose vector's elements are all one
// table multiply: the buffer is small and what it describes is not.
func TestSharedTablesCannotMultiply(t *testing.T) {
	const width, levels = 1000, 4
	b := flatbuffers.NewBuilder(0)
	at := addLeaf(b)
	description := leaf()
	for range levels {
		b.StartVector(4, width, 4)
		for range width {
			b.PrependUOffsetT(at)
		}
		vector := b.EndVector(width)
		b.StartObject(1)
		b.PrependUOffsetTSlot(0, vector, 0)
		at = b.EndObject()
		description = &fbverify.Table{Name: "Node", Fields: []fbverify.Field{{Name: "c", ID: 0, Kind: fbverify.Children, Table: description}}}
	}
	b.Finish(at)
	err := fbverify.Verify(b.FinishedBytes(), description)
	if err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("a trillion tables in %d bytes: %v", len(b.FinishedBytes()), err)
	}
}

func TestSharedBytesCannotMultiply(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	text := b.CreateString(strings.Repeat("x", 10_000))
	var children []flatbuffers.UOffsetT
	for range 1000 {
		b.StartObject(1)
		b.PrependUOffsetTSlot(0, text, 0)
		children = append(children, b.EndObject())
	}
	b.StartVector(4, len(children), 4)
	for _, child := range children {
		b.PrependUOffsetT(child)
	}
	vector := b.EndVector(len(children))
	b.StartObject(1)
	b.PrependUOffsetTSlot(0, vector, 0)
	b.Finish(b.EndObject())
	named := &fbverify.Table{Name: "Named", Fields: []fbverify.Field{{Name: "name", ID: 0, Kind: fbverify.String}}}
	list := &fbverify.Table{Name: "List", Fields: []fbverify.Field{{Name: "c", ID: 0, Kind: fbverify.Children, Table: named}}}
	if err := fbverify.Verify(b.FinishedBytes(), list); err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("ten million bytes of text in %d: %v", len(b.FinishedBytes()), err)
	}
}

// A table's reference to its vtable is signed, and every sum of a position and
// an offset must not wrap around.
func TestExtremeOffsetsStayInside(t *testing.T) {
	for _, value := range []uint32{0, 1, 3, 4, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff} {
		good := buildTree("text", 1)
		for at := 0; at+4 <= len(good); at++ {
			buf := append([]byte(nil), good...)
			binary.LittleEndian.PutUint32(buf[at:], value)
			err := fbverify.Verify(buf, tree())
			if bad, ok := errors.AsType[*fbverify.Error](err); err != nil && (!ok || bad.Offset < 0 || bad.Offset > len(buf)) {
				t.Errorf("%d at %d: %v", value, at, err)
			}
		}
	}
}

// walk reads everything that the description vouches for, as generated code
// does; it panics where Verify failed to see what is wrong.
func walk(buf []byte) {
	var root flatbuffers.Table
	root.Bytes, root.Pos = buf, flatbuffers.GetUOffsetT(buf)
	read := func(t *flatbuffers.Table, pos flatbuffers.UOffsetT) {
		at := flatbuffers.Table{Bytes: t.Bytes, Pos: pos}
		at.GetUint64Slot(4, 0)
	}
	read(&root, root.Indirect(root.Pos+flatbuffers.UOffsetT(root.Offset(4))))
	if o := flatbuffers.UOffsetT(root.Offset(6)); o != 0 {
		vector := root.Vector(o)
		for i := range flatbuffers.UOffsetT(root.VectorLen(o)) {
			read(&root, root.Indirect(vector+i*4))
		}
	}
	if o := flatbuffers.UOffsetT(root.Offset(8)); o != 0 {
		_ = string(root.ByteVector(o + root.Pos))
	}
	if o := flatbuffers.UOffsetT(root.Offset(10)); o != 0 {
		vector := root.Vector(o)
		for i := range flatbuffers.UOffsetT(root.VectorLen(o)) {
			root.GetUint32(vector + i*4)
		}
	}
	if o := flatbuffers.UOffsetT(root.Offset(14)); o != 0 && root.GetByteSlot(12, 0) == 1 {
		var one flatbuffers.Table
		root.Union(&one, o)
		read(&root, one.Pos)
	}
}

func FuzzVerifiedBuffersCanBeRead(f *testing.F) {
	f.Add(buildTree("text", 1))
	f.Add(buildTree("", 2))
	f.Fuzz(func(_ *testing.T, buf []byte) {
		if fbverify.Verify(buf, tree()) == nil {
			walk(buf)
		}
	})
}
