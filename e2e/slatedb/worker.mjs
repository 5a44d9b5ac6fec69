// A SlateDB in a process of its own, driven by one JSON command a line on
// standard input; each gets one JSON answer on standard output. The test in Go
// sets a time limit for every command, since a SlateDB whose endpoint is wrong
// waits for ever.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { DbBuilder, DbReaderBuilder, FlushType, ObjectStore, Settings } from "@slatedb/uniffi";

let store;
let db;
let reader;

const key = (i) => Buffer.from(`key${String(i).padStart(8, "0")}`);

// The value of a key in a generation: incompressible, and known to both sides.
function value(i, generation, size) {
  const seed = createHash("sha512").update(`${generation}/${i}`).digest();
  const out = Buffer.alloc(size);
  for (let at = 0; at < size; at += seed.length) seed.copy(out, at);
  return out;
}

function settings(changes) {
  const s = Settings.default();
  for (const [name, v] of Object.entries(changes ?? {})) s.set(name, JSON.stringify(v));
  return s;
}

const handle = () => db ?? reader;

const commands = {
  async open({ url, path, changes, cache }) {
    store = ObjectStore.resolve(url);
    const builder = new DbBuilder(path, store);
    builder.with_settings(settings(changes));
    if (cache === false) builder.with_db_cache_disabled();
    db = await builder.build();
    return {};
  },
  async open_reader({ url, path }) {
    store = ObjectStore.resolve(url);
    reader = await new DbReaderBuilder(path, store).build();
    return {};
  },
  // Puts keys [from, to) in batches that are awaited together; the answer means
  // that all are acknowledged.
  async put({ from, to, generation, size }) {
    for (let i = from; i < to; i += 500) {
      const wait = [];
      for (let j = i; j < Math.min(to, i + 500); j++) wait.push(db.put(key(j), value(j, generation, size)));
      await Promise.all(wait);
    }
    return { put: to - from };
  },
  async flush() {
    await db.flush_with_options({ flush_type: FlushType.MemTable });
    return {};
  },
  // Gets keys and says which are missing or wrong, and how long each took.
  async get({ keys, generation, size }) {
    const bad = [];
    const micros = [];
    for (const i of keys) {
      const began = process.hrtime.bigint();
      const got = await handle().get(key(i));
      micros.push(Number((process.hrtime.bigint() - began) / 1000n));
      if (got == null || !Buffer.from(got).equals(value(i, generation, size))) bad.push(i);
    }
    return { bad, micros };
  },
  // Scans everything and says how many rows there are and which are wrong.
  async scan({ generation, size, limit }) {
    const began = process.hrtime.bigint();
    const rows = await handle().scan({ start: undefined, start_inclusive: true, end: undefined, end_inclusive: false });
    let count = 0;
    const bad = [];
    for (let row = await rows.next(); row != null; row = await rows.next()) {
      const i = Number(Buffer.from(row.key).toString().slice(3));
      if (generation != null && !Buffer.from(row.value).equals(value(i, generation, size))) bad.push(i);
      count++;
      if (limit && count >= limit) break;
    }
    return { count, bad: bad.slice(0, 10), micros: Number((process.hrtime.bigint() - began) / 1000n) };
  },
  async shutdown() {
    if (handle() != null) await handle().shutdown();
    db = reader = undefined;
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...args } = JSON.parse(line);
  let answer;
  try {
    answer = await commands[op](args);
  } catch (error) {
    answer = { error: `${error?.constructor?.name}: ${error?.message ?? error}`, detail: JSON.stringify(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
