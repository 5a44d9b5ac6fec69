// The examples of the objects specification in JavaScript, and what the wrapper
// adds. Argument: a directory with files to import in "in".
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { Cancel, Database, StardustError, liveHandles } = require("./stardust");

const hello = { "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb" };
const revised = { "#sha256": "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2" };
const text = Buffer.from("Hello, objects");
const show = (value) => console.log(JSON.stringify(value, null, 2));

const examples = {
  Get(db) {
    db.put(text);
    db.call("create", [{ name: "hello.txt", digest: hello }]);
    show(db.call("get", { entity: 1 }));
  },
  Lookup(db) {
    db.call("create", [{ name: "notes" }]);
    // Entity 0 is the root directory.
    show(db.call("lookup", { parent: 0, name: "notes" }));
  },
  Children(db) {
    db.call("create", "[{name notes} {name drafts}]");
    show(db.call("children", { parent: 0 }));
  },
  Path(db) {
    db.call("create", "[{name notes} {name drafts under 1}]");
    show(db.call("path", { entity: 2 }));
  },
  Files(db) {
    db.put(text);
    db.call("create", [{ name: "a.txt", digest: hello }, { name: "b.txt", digest: hello }]);
    show(db.call("files", { digest: hello }));
  },
  Manifest(db) {
    db.put(text);
    show(db.call("manifest", { digest: hello }));
  },
  Create(db) {
    db.put(text);
    show(db.call("create", [{ name: "notes" }, { name: "hello.txt", under: 1, digest: hello }]));
  },
  Update(db) {
    db.put(text);
    db.put(Buffer.from("Revised notes"));
    db.call("create", [{ name: "hello.txt", digest: hello }]);
    show(db.call("update", { entity: 1, digest: revised, expectedRevision: 0 }));
  },
  Move(db) {
    db.call("create", [{ name: "notes" }, { name: "drafts" }]);
    show(db.call("move", { entity: 2, parent: 1, name: "archive", expectedRevision: 0, replace: false }));
  },
  Remove(db) {
    db.call("create", [{ name: "drafts" }]);
    assert.equal(db.call("remove", { entity: 1, expectedRevision: 0 }), null);
  },
  Upload(db) {
    show(db.put(text));
  },
  Open(db) {
    db.put(text);
    const reader = db.open({ digest: hello });
    reader.seek(7);
    const data = reader.read(7);
    assert.equal(data.toString(), "objects");
    assert.equal(reader.readAt(5, 0).toString(), "Hello");
    assert.equal(reader.size(), 14);
    reader.close();
    console.log(data.length);
  },
};

// Expects a call to fail, and returns the error.
function refused(status, call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof StardustError, error);
    assert.equal(error.status, status);
    return error;
  }
  return assert.fail("not refused");
}

async function wrapper(directory) {
  const db = new Database(path.join(directory, "wrapper.stardust"));
  assert.equal(refused("not_found", () => db.call("get", { entity: 77 })).operation, "objects.get");

  let files = 0;
  const report = db.import(path.join(directory, "in"), 0, { workers: 2 }, { progress: (now) => { files = now.files; } });
  assert.equal(report.created, 20);
  assert.equal(files, 20);
  assert.throws(() => db.check({ progress: () => { throw new RangeError("mine"); } }), RangeError);
  assert.equal(refused("canceled", () => db.check({ progress: () => false })).report.damaged, 0);
  const cancel = new Cancel();
  cancel.now();
  refused("canceled", () => db.check({ cancel }));
  cancel.close();

  const before = db.snapshot();
  const hold = db.holdWrites();
  assert.equal(refused("conflict", () => db.call("create", [{ name: "held" }])).code, "writes_held");
  hold.close();
  db.call("create", [{ name: "later é😀" }]);
  const names = (view) => view.call("children", { parent: 0 }).map((node) => node.name);
  assert.ok(!names(before).includes("later é😀") && names(db).includes("later é😀"));
  const first = db.asOf(0);
  assert.deepEqual(names(first), []);
  first.close();
  before.close();
  db.backup(path.join(directory, "copy.stardust"));
  assert.equal(db.export(0, path.join(directory, "out")).created, 20);

  const nodes = await Promise.all(Array.from({ length: 16 }, (_, i) => db.callAsync("create", [{ name: `async ${i}` }])));
  assert.equal(new Set(nodes.map(([node]) => node.entity)).size, 16);
  await assert.rejects(db.callAsync("get", { entity: 99999 }), StardustError);
  db.close();
  refused("invalid_argument", () => db.info()); // there is no handle any more
}

async function main(directory) {
  for (const [name, run] of Object.entries(examples)) {
    const db = new Database(path.join(directory, `${name}.stardust`));
    console.log(`== ${name}`);
    run(db);
    db.close();
  }
  await wrapper(directory);
  assert.equal(liveHandles(), 0);
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
