package stardust

import (
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// PluginObjects is the name of the objects plugin in Call and Stream.
const PluginObjects = "objects"

// Call runs an operation of a plugin by name (the spec's plugin_call), for
// callers that bring requests as documents: other languages, a server. The
// request's members are the operation's parameters in lowerCamelCase, such as
// {entity 1 expectedRevision 0}, all of them; for create it is {nodes [...]} or
// the array itself. Digests may be hexadecimal text or {#sha256 hex}. remove
// returns null.
//
// It returns StatusInvalidArgument for an unknown plugin or operation, and for
// a missing, unknown or wrong member, which the message names, and whatever the
// operation returns.
func (db *DB) Call(plugin, operation string, request *Document) (*Document, error) {
	return db.Objects().call(plugin, operation, request)
}

// Call is [DB.Call] on these operations, which may be of a snapshot or bound to
// a context.
func (v Objects) Call(operation string, request *Document) (*Document, error) {
	return v.call(PluginObjects, operation, request)
}

func (v Objects) call(plugin, operation string, document *Document) (*Document, error) {
	op, err := v.admit("call", plugin, operation)
	if err != nil {
		return nil, err
	}
	if operation == "create" {
		return v.callCreate(document)
	}
	r, err := newRequest(document)
	if err != nil {
		return nil, withOp(op, err)
	}
	run := v.operation(operation, r)
	if run == nil {
		return nil, withOp("call", notCalled(operation))
	}
	if r.end(); r.err != nil {
		return nil, withOp(op, r.err)
	}
	return run()
}

// admit makes the checks that come before any of the request: that the database
// is open, that the plugin exists and that it offers the operation. It returns
// the operation's full name.
func (v Objects) admit(kind, plugin, operation string) (op string, err error) {
	op = plugin + "." + operation
	check := v.tree.enabled
	switch operation {
	case "create", "update", "move", "remove", "upload":
		check = v.tree.writable
	}
	if err := check(); err != nil {
		return op, withOp(op, err)
	}
	if plugin != PluginObjects {
		return op, withOp(kind, invalid("plugin: %s is not known; there is only %s", tree.Quote(plugin), PluginObjects))
	}
	return op, nil
}

func notCalled(operation string) error {
	switch operation {
	case "upload", "open":
		return invalid("operation: %s opens a stream; use Stream rather than Call", tree.Quote(operation))
	}
	return invalid("operation: %s is not one of objects", tree.Quote(operation))
}

// operation reads an operation's parameters and returns the call to make, or
// nil when there is no such operation.
func (v Objects) operation(name string, r *request) func() (*Document, error) {
	switch name {
	case "get":
		entity := r.needInteger("entity")
		return func() (*Document, error) { return v.Get(entity) }
	case "lookup":
		parent, child := r.needInteger("parent"), r.needText("name")
		return func() (*Document, error) { return v.Lookup(parent, child) }
	case "children":
		parent := r.needInteger("parent")
		return func() (*Document, error) { return v.Children(parent) }
	case "path":
		entity := r.needInteger("entity")
		return func() (*Document, error) { return v.Path(entity) }
	case "files":
		digest := r.needDigest("digest")
		return func() (*Document, error) { return v.Files(digest.String()) }
	case "manifest":
		digest := r.needDigest("digest")
		return func() (*Document, error) { return v.Manifest(digest.String()) }
	case "update":
		entity, digest, revision := r.needInteger("entity"), r.needDigest("digest"), r.needInteger("expectedRevision")
		return func() (*Document, error) { return v.Update(entity, digest.String(), revision) }
	case "move":
		entity, parent, child := r.needInteger("entity"), r.needInteger("parent"), r.needText("name")
		revision, replace := r.needInteger("expectedRevision"), r.needBoolean("replace")
		return func() (*Document, error) { return v.Move(entity, parent, child, revision, replace) }
	case "remove":
		entity, revision := r.needInteger("entity"), r.needInteger("expectedRevision")
		return func() (*Document, error) { return nullDocument(v.Remove(entity, revision)) }
	}
	return nil
}

func (v Objects) callCreate(document *Document) (*Document, error) {
	const op = "objects.create"
	value, err := document.value()
	if err != nil {
		return nil, withOp(op, err)
	}
	if value.Kind() != dust.Object {
		return v.Create(document) // an array, or what Create refuses
	}
	r := request{value: value}
	nodes, _ := r.need("nodes")
	if r.end(); r.err != nil {
		return nil, withOp(op, r.err)
	}
	return v.Create(newDocument(nodes))
}

// Stream opens a stream of a plugin by name (the spec's plugin_stream): upload,
// whose request is empty or nil, or open, whose request is {digest ...}. Its
// errors are like those of [DB.Call].
func (db *DB) Stream(plugin, operation string, request *Document) (*PluginStream, error) {
	return db.Objects().stream(plugin, operation, request)
}

func (v Objects) stream(plugin, operation string, document *Document) (*PluginStream, error) {
	op, err := v.admit("stream", plugin, operation)
	if err != nil {
		return nil, err
	}
	r := new(request)
	if document != nil {
		if r, err = newRequest(document); err != nil {
			return nil, withOp(op, err)
		}
	}
	var run func() (*PluginStream, error)
	switch operation {
	case "upload":
		run = v.Upload
	case "open":
		digest := r.needDigest("digest")
		run = func() (*PluginStream, error) { return v.tree.open(digest) }
	default:
		return nil, withOp("stream", invalid("operation: %s is not a stream of objects", tree.Quote(operation)))
	}
	if r.end(); r.err != nil {
		return nil, withOp(op, r.err)
	}
	return run()
}
