package stardust

import "github.com/stardustdb/stardust/internal/tree"

// PluginObjects is the name of the objects plugin in Call and Stream.
const PluginObjects = "objects"

// Call runs an operation of a plugin by name (the spec's plugin_call), for
// callers that bring requests as documents: other languages, a server. The
// request's members are the operation's parameters in lowerCamelCase, such as
// {entity 1 expectedRevision 2}; for create it is {nodes [...]} or the array
// itself. Digests may be hexadecimal text or {#sha256 hex}. Optional members
// are parent (0), expectedRevision (0) and replace (false). remove returns null.
//
// It returns StatusInvalidArgument for an unknown plugin or operation, and for
// a missing, unknown or wrong member, which the message names; besides, what
// the operation returns.
func (db *DB) Call(plugin, operation string, request *Document) (*Document, error) {
	return db.Objects().call(plugin, operation, request)
}

// Call is [DB.Call] on these operations, be they of a snapshot or bound to a
// context.
func (v Objects) Call(operation string, request *Document) (*Document, error) {
	return v.call(PluginObjects, operation, request)
}

func (v Objects) call(plugin, operation string, document *Document) (*Document, error) {
	op := plugin + "." + operation
	if plugin != PluginObjects {
		return nil, withOp("call", invalid("plugin: %s is not known; there is only %s", tree.Quote(plugin), PluginObjects))
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
		return nil, withOp("call", invalid("operation: %s is not one of objects", tree.Quote(operation)))
	}
	if r.end(); r.err != nil {
		return nil, withOp(op, r.err)
	}
	return run()
}

// operation reads an operation's parameters and returns the call to make, or
// nil when there is no such operation.
func (v Objects) operation(name string, r *request) func() (*Document, error) {
	switch name {
	case "get":
		entity := r.needInteger("entity")
		return func() (*Document, error) { return v.Get(entity) }
	case "lookup":
		parent, _ := r.integer("parent")
		child := r.needText("name")
		return func() (*Document, error) { return v.Lookup(parent, child) }
	case "children":
		parent, _ := r.integer("parent")
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
		entity, digest := r.needInteger("entity"), r.needDigest("digest")
		revision, _ := r.integer("expectedRevision")
		return func() (*Document, error) { return v.Update(entity, digest.String(), revision) }
	case "move":
		entity, child := r.needInteger("entity"), r.needText("name")
		parent := r.needInteger("parent")
		revision, _ := r.integer("expectedRevision")
		replace, _ := r.boolean("replace")
		return func() (*Document, error) { return v.Move(entity, parent, child, revision, replace) }
	case "remove":
		entity := r.needInteger("entity")
		revision, _ := r.integer("expectedRevision")
		return func() (*Document, error) { return nullDocument(v.Remove(entity, revision)) }
	}
	return nil
}

func (v Objects) callCreate(document *Document) (*Document, error) {
	r, err := newRequest(document)
	if err != nil {
		return v.Create(document) // an array, or what Create refuses
	}
	nodes, ok := r.member("nodes")
	r.required("nodes", ok)
	if r.end(); r.err != nil {
		return nil, withOp("objects.create", r.err)
	}
	return v.Create(newDocument(nodes))
}

// Stream opens a stream of a plugin by name (the spec's plugin_stream): upload,
// whose request is empty or nil, or open, whose request is {digest ...}.
func (db *DB) Stream(plugin, operation string, request *Document) (*PluginStream, error) {
	return db.Objects().stream(plugin, operation, request)
}

func (v Objects) stream(plugin, operation string, document *Document) (*PluginStream, error) {
	if plugin != PluginObjects {
		return nil, withOp("stream", invalid("plugin: %s is not known; there is only %s", tree.Quote(plugin), PluginObjects))
	}
	r := new(request)
	if document != nil {
		var err error
		if r, err = newRequest(document); err != nil {
			return nil, withOp("stream", err)
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
		return nil, withOp(plugin+"."+operation, r.err)
	}
	return run()
}
