// Uploads that go on after a break, by the tus protocol 1.0: a broken connection is
// tried again by itself, and after a reload the same file continues where it was.
import { Problem, send, request } from './api.js';

const pieceSize = 32 << 20;
const waits = [500, 1000, 2000, 4000, 8000, 15000, 30000]; // in milliseconds, between tries
const version = { 'Tus-Resumable': '1.0.0' };

// smallest is the size from which an upload is worth more than one request.
export const smallest = 8 << 20;

const encode = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const address = id => `v1/uploads/${id}`;

// unfinished lists this user's unfinished uploads that no page is sending now.
export async function unfinished() {
  const list = await (await request('v1/uploads')).json();
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map(lock => lock.name));
  return list.filter(one => !held.has(address(one.id)));
}

// same reports whether a file is the one that an unfinished upload began with.
export const same = (one, path, file) => one.path === path && one.size === file.size && one.metadata?.modified === String(file.lastModified);

export const discard = id => request(address(id), { method: 'DELETE', headers: version });

async function create(path, file) {
  const headers = { ...version, 'Upload-Length': String(file.size), 'Upload-Metadata': `path ${encode(path)},modified ${encode(String(file.lastModified))}` };
  const answer = await request('v1/uploads', { method: 'POST', headers });
  return answer.headers.get('Location').split('/').at(-1);
}

// put uploads a file, or what is missing of it when an upload of it is there, and
// tells how far it has come.
export function put(path, file, tell, id) {
  let stopped = false, arrived = 0, stop = () => {};
  const upload = {
    get id() { return id; },
    async cancel() {
      stopped = true;
      stop();
      if (id) await discard(id).catch(() => {});
    },
  };
  const pause = wait => new Promise(resolve => {
    const timer = setTimeout(resolve, wait);
    stop = () => { clearTimeout(timer); resolve(); };
    addEventListener('online', resolve, { once: true });
  });
  const piece = async () => {
    const answer = await request(address(id), { method: 'HEAD', headers: version });
    for (let offset = Number(answer.headers.get('Upload-Offset')); offset < file.size && !stopped;) {
      arrived = offset;
      const body = file.slice(offset, offset + pieceSize), from = offset;
      const sending = send('PATCH', address(id), { ...version, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' }, body, sent => tell((from + sent) / file.size));
      stop = sending.cancel;
      offset = Number((await sending.done).getResponseHeader('Upload-Offset'));
    }
  };
  const run = async () => {
    for (let failed = 0, known = Boolean(id), before = 0; ;) {
      try {
        if (!id) id = await create(path, file);
        if (stopped) throw new Problem(0, { message: 'canceled: nothing was stored' });
        const held = () => piece();
        return await (navigator.locks ? navigator.locks.request(address(id), held) : held());
      } catch (error) {
        if (stopped) throw new Problem(0, { message: 'canceled: nothing was stored' });
        if (error.http === 404 && known) { id = undefined; known = false; continue; } // it has expired: begin again
        const passes = !error.http || error.http === 409 || error.http === 423 || error.http === 429 || error.http >= 500;
        if (!passes || failed === waits.length) throw error;
        if (arrived > before) failed = 0; // it comes forward between the breaks
        before = arrived;
        await pause(waits[failed++]);
      }
    }
  };
  upload.done = run();
  return upload;
}
