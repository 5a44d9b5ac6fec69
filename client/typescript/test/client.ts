// Uses the client against a real server: node client.js ADDRESS TOKEN. It prints a
// line for each promise that holds, and ends with 1 at the first that does not.
import assert from 'node:assert/strict';
import { Problem, Stardust, type Commit } from '../src/index.js';

const [server, token] = process.argv.slice(2) as [string, string];
const stardust = new Stardust(server, { token });
const ok = (promise: string): void => console.log(`ok ${promise}`);
const text = async (answer: Promise<Response>): Promise<string> => (await answer).text();
const problem = (code: string) => (error: unknown): boolean => error instanceof Problem && (error.code === code || error.status === code);

const info = await stardust.info();
assert.ok(info.write && !info.bounded);
ok('a token lets in');
await assert.rejects(new Stardust(server).info(), (error: Problem) => error.http === 401 && error.code === 'unauthenticated');
ok('nobody else');

const written = await stardust.write('a/ü b?.txt', 'first');
assert.equal(await text(stardust.read('a/ü b?.txt', { offset: 1, length: 3 })), 'irs');
await assert.rejects(stardust.write('a/ü b?.txt', 'x', { isNew: true }), problem('name_taken'));
await stardust.write('a/ü b?.txt', 'second', { replaces: written.digest!['#sha256'] });
await assert.rejects(stardust.write('a/ü b?.txt', 'x', { replaces: written.digest!['#sha256'] }), problem('stale_digest'));
assert.equal(await text(stardust.read('a/ü b?.txt', { at: written.revision })), 'first');
ok('files are written, under conditions, and read, also as they were');

await stardust.makeDirectory('a/b/c');
await stardust.copy({ from: 'a/ü b?.txt', at: written.revision, to: 'a/b/old.txt' });
await stardust.move({ from: 'a/b/old.txt', to: 'a/b/older.txt' });
const names: string[] = [];
for await (const node of stardust.list('a', { times: true })) names.push(node.name);
assert.deepEqual(names, ['b', 'ü b?.txt']);
assert.equal((await stardust.search('', 'OLDER')).found?.[0]?.path, '/a/b/older.txt');
await assert.rejects(stardust.remove('a/b'), problem('not_empty'));
await stardust.remove('a/b', { recursive: true });
assert.equal((await stardust.history('a/ü b?.txt')).length, 2);
assert.equal((await stardust.commits('a', { limit: 1 }))[0]?.changes?.[0]?.action, 'removed');
assert.ok((await text(stardust.archive('', 'tar'))).includes('second'));
ok('directories are made, listed, searched, moved, removed and packed');

await stardust.write('several/one', '1');
await stardust.write('several/two', '22');
assert.equal((await stardust.largest('several', { limit: 1 })).found?.[0]?.path, '/two');
assert.deepEqual((await stardust.outline('several')).count, 2);
await stardust.moveInto('', ['several/one', 'several/two']);
await stardust.removeAll(['one', 'two', 'several']);
assert.ok((await stardust.growth()).points.length > 3);
ok('several are moved and removed at once, and storage is told');

const payload = await stardust.upload(new Blob(['a payload']));
const created = await stardust.call('create', { nodes: [{ name: 'entity.txt', digest: payload.digest }] });
const node = created![0]!;
assert.equal((await stardust.call('lookup', { parent: 0, name: 'entity.txt' })).entity, node.entity);
assert.equal(await text(stardust.open(payload.digest['#sha256'], { offset: 2 })), 'payload');
await stardust.call('remove', { entity: node.entity, expectedRevision: node.revision });
await assert.rejects(stardust.call('get', { entity: node.entity }), problem('not_found'));
assert.equal((await stardust.call('get', { entity: node.entity }, node.revision)).name, 'entity.txt');
ok('the operations of the objects spec work, typed');

const content = new Blob(['an upload ', 'in pieces']);
const id = await stardust.beginUpload('uploaded.txt', content.size);
assert.equal((await stardust.uploads())[0]?.path, 'uploaded.txt');
await stardust.continueUpload(id, content);
assert.equal(await text(stardust.read('uploaded.txt')), 'an upload in pieces');
const canceled = await stardust.beginUpload('canceled.txt', 5);
await stardust.cancelUpload(canceled);
await assert.rejects(stardust.continueUpload(canceled, content), (error: Problem) => error.http === 404);
ok('uploads are begun, continued and canceled');

const stop = new AbortController();
const seen: Commit[] = [];
try {
  for await (const commit of stardust.changes('', { after: written.revision, signal: stop.signal })) {
    seen.push(commit);
    if (seen.length === 1) await stardust.write('live.txt', 'x');
    if (commit.changes?.some(change => change.path === '/live.txt')) stop.abort();
  }
} catch (error) {
  assert.equal((error as Error).name, 'AbortError');
}
assert.equal(seen[0]?.changes?.[0]?.action, 'changed');
assert.ok(stop.signal.aborted);
ok('changes are told from the past on and as they happen');
