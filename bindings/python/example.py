"""The examples of the objects specification in Python, and what the wrapper adds.

Argument: a directory with files to import in "in".
"""

import json
import os
import sys
import threading

import stardust

HELLO = {"#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}
REVISED = {"#sha256": "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2"}


def show(value):
    print(json.dumps(value, indent=2))


def get(db):
    db.put(b"Hello, objects")
    db.call("create", [{"name": "hello.txt", "digest": HELLO}])
    show(db.call("get", {"entity": 1}))


def lookup(db):
    db.call("create", [{"name": "notes"}])
    # Entity 0 is the root directory.
    show(db.call("lookup", {"parent": 0, "name": "notes"}))


def children(db):
    db.call("create", "[{name notes} {name drafts}]")
    show(db.call("children", {"parent": 0}))


def path(db):
    db.call("create", "[{name notes} {name drafts under 1}]")
    show(db.call("path", {"entity": 2}))


def files(db):
    db.put(b"Hello, objects")
    db.call("create", [{"name": "a.txt", "digest": HELLO}, {"name": "b.txt", "digest": HELLO}])
    show(db.call("files", {"digest": HELLO}))


def manifest(db):
    db.put(b"Hello, objects")
    show(db.call("manifest", {"digest": HELLO}))


def create(db):
    db.put(b"Hello, objects")
    show(db.call("create", [{"name": "notes"}, {"name": "hello.txt", "under": 1, "digest": HELLO}]))


def update(db):
    db.put(b"Hello, objects")
    db.put(b"Revised notes")
    db.call("create", [{"name": "hello.txt", "digest": HELLO}])
    show(db.call("update", {"entity": 1, "digest": REVISED, "expectedRevision": 0}))


def move(db):
    db.call("create", [{"name": "notes"}, {"name": "drafts"}])
    show(db.call("move", {"entity": 2, "parent": 1, "name": "archive", "expectedRevision": 0, "replace": False}))


def remove(db):
    db.call("create", [{"name": "drafts"}])
    assert db.call("remove", {"entity": 1, "expectedRevision": 0}) is None


def upload(db):
    show(db.put(b"Hello, objects"))


def open_(db):
    db.put(b"Hello, objects")
    with db.open({"digest": HELLO}) as reader:
        reader.seek(7)
        data = reader.read(7)
        assert data == b"objects" and reader.read_at(5, 0) == b"Hello" and reader.size() == 14
        print(len(data))


def refused(status, call, *arguments):
    try:
        call(*arguments)
    except stardust.Error as error:
        assert error.name == status, error
        return error
    raise AssertionError("not refused")


def wrapper(directory):
    db = stardust.Database(os.path.join(directory, "wrapper.stardust"))
    error = refused("not_found", db.call, "get", {"entity": 77})
    assert error.operation == "objects.get" and "77" in str(error)

    seen = []
    here = threading.get_ident()
    report = db.import_(os.path.join(directory, "in"), progress=lambda now: seen.append((threading.get_ident(), now.files)))
    assert report["created"] == 20 and seen[-1] == (here, 20), report

    def stop(_):
        raise KeyError("mine")

    try:
        db.check(progress=stop)
        raise AssertionError("what a callback raises is raised")
    except KeyError:
        pass
    assert refused("canceled", lambda: db.check(progress=lambda _: False)).report["damaged"] == 0

    before = db.snapshot()
    with db.hold_writes():
        assert refused("conflict", db.call, "create", [{"name": "held"}]).code == "writes_held"
    db.call("create", [{"name": "later"}])
    assert "later" not in [node["name"] for node in before.call("children", {"parent": 0})]
    assert db.as_of(0).call("children", {"parent": 0}) == [] and before.revision() > 0
    db.backup(os.path.join(directory, "copy.stardust"))
    assert db.export(0, os.path.join(directory, "out"))["created"] == 20

    # Many threads, and names of every kind.
    def work(i):
        digest = db.put(b"thread %d" % i)["digest"]
        db.call("create", [{"name": "é\U0001f600 %d" % i, "digest": digest}])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [node["name"] for node in db.call("children", {"parent": 0})]
    assert sum(name.startswith("é\U0001f600") for name in names) == 16
    before.close()
    db.close()
    refused("invalid_argument", db.info)  # there is no handle any more


def main(directory):
    for example in (get, lookup, children, path, files, manifest, create, update, move, remove, upload, open_):
        name = example.__name__.rstrip("_").capitalize()
        with stardust.Database(os.path.join(directory, name + ".stardust")) as db:
            print("== " + name)
            example(db)
    wrapper(directory)
    assert stardust.live_handles() == 0, stardust.live_handles()


if __name__ == "__main__":
    main(sys.argv[1])
