package catalog

// The tables' version is kept in SQLite's user_version. Tables are made as ones of
// schemaVersion, and become ones of newestVersion by the first Forget, since earlier
// software would read a past that is not there any more, and by the first compressed
// chunk, which it could not read.
const (
	schemaVersion = 2
	newestVersion = 3

	setVersion       = `PRAGMA user_version = 2;`
	setNewestVersion = `PRAGMA user_version = 3;`
)

// schemaSince2 is what version 2 lacked: the revisions that were forgotten.
const schemaSince2 = `
CREATE TABLE IF NOT EXISTS forgotten(
	first INTEGER PRIMARY KEY,
	last  INTEGER NOT NULL,
	time  INTEGER NOT NULL,
	crc   INTEGER NOT NULL
) STRICT;
` + setNewestVersion

// schemaSince1 is what version 1 lacked: the largest row ids that were ever
// removed, so that no row gets one of them again.
const schemaSince1 = `
CREATE TABLE removed(
	kind INTEGER PRIMARY KEY,
	id   INTEGER NOT NULL,
	crc  INTEGER NOT NULL
) STRICT;
`

// forever is the end of a row that is still valid.
const forever = int64(1)<<62 - 1

// schema is described column by column in docs/formats-catalog.md. Names are BLOBs so
// that they compare by their bytes.
const schema = `
CREATE TABLE chunk(
	id     INTEGER PRIMARY KEY,
	digest BLOB NOT NULL,
	offset INTEGER NOT NULL,
	size   INTEGER NOT NULL,
	crc    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunk_digest ON chunk(digest);

CREATE TABLE payload(
	id     INTEGER PRIMARY KEY,
	digest BLOB NOT NULL,
	size   INTEGER NOT NULL,
	chunks INTEGER NOT NULL,
	chunk  INTEGER,
	crc    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX payload_digest ON payload(digest);

CREATE TABLE manifest(
	payload INTEGER NOT NULL,
	start   INTEGER NOT NULL,
	entries BLOB NOT NULL,
	crc     INTEGER NOT NULL,
	PRIMARY KEY(payload, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE node(
	entity   INTEGER PRIMARY KEY,
	parent   INTEGER NOT NULL,
	name     BLOB NOT NULL,
	payload  INTEGER,
	revision INTEGER NOT NULL,
	crc      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX node_child ON node(parent, name);
CREATE INDEX node_payload ON node(payload) WHERE payload IS NOT NULL;

CREATE TABLE version(
	entity   INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	until    INTEGER NOT NULL,
	removed  INTEGER NOT NULL,
	parent   INTEGER NOT NULL,
	name     BLOB NOT NULL,
	payload  INTEGER,
	crc      INTEGER NOT NULL,
	PRIMARY KEY(entity, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_child ON version(parent, name, revision);
CREATE INDEX version_payload ON version(payload) WHERE payload IS NOT NULL;

CREATE TABLE attribute(
	entity   INTEGER NOT NULL,
	name     BLOB NOT NULL,
	revision INTEGER NOT NULL,
	until    INTEGER NOT NULL,
	value    BLOB NOT NULL,
	crc      INTEGER NOT NULL,
	PRIMARY KEY(entity, name, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE log(
	id     INTEGER PRIMARY KEY,
	record BLOB NOT NULL,
	crc    INTEGER NOT NULL
) STRICT;
`
