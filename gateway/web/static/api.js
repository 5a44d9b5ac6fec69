// The server's interface, by addresses relative to the page.

export class Problem extends Error {
  constructor(status, document) {
    super(document?.message ?? `the server answers ${status}`);
    this.http = status;
    this.status = document?.status;
    this.code = document?.code;
  }
}

const encode = path => path.split('/').filter(Boolean).map(encodeURIComponent).join('/');

export function address(kind, path, query = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== 0 && value !== '').flatMap(([name, value]) => [value].flat().map(one => [name, one])));
  return `v1/${kind}/${encode(path)}${words.size ? `?${words}` : ''}`;
}

export async function request(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { message: 'the server does not answer' });
  }
  if (answer.ok) return answer;
  if (answer.status === 401) document.dispatchEvent(new Event('unauthenticated'));
  throw new Problem(answer.status, await answer.json().catch(() => null));
}

const json = async (url, options) => (await request(url, options)).json();
const submit = (url, body) => request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const post = async (url, body) => (await submit(url, body)).json();

export const info = () => json('v1/info');
export const page = (path, after, at, limit, signal) => json(address('files', path, { times: true, limit, after, at }), { signal });

// file returns the record of a path that is a file, and null of a directory.
export async function file(path, at) {
  const { headers } = await request(address('files', path, { at }), { method: 'HEAD' });
  if (!headers.has('ETag')) return null;
  const disposition = headers.get('Content-Disposition') ?? '', plain = disposition.match(/filename="?([^";]*)/)?.[1], extended = disposition.match(/filename\*=utf-8''([^;]*)/i)?.[1];
  return { kind: 'file', entity: 0, name: extended ? decodeURIComponent(extended) : plain ?? '', size: Number(headers.get('Content-Length')),
    revision: Number(headers.get('Stardust-Revision')), digest: { '#sha256': headers.get('ETag').replaceAll('"', '') } };
}

export const outline = (path, at, signal) => json(address('outline', path, { at }), { signal });
export const largest = (path, limit, at) => json(address('largest', path, { at, limit }));
export const growth = () => json('v1/growth');
export const files = digest => post('v1/objects/files', { digest });
export const pathOf = entity => post('v1/objects/path', { entity });
export const removeAll = paths => submit('v1/remove', { paths, recursive: true });
export const moveInto = (into, paths) => submit('v1/move-into', { paths, into });
export const history = (path, at) => json(address('history', path, { at }));
export const commits = (path, before, limit) => json(address('commits', path, { before, limit }));
export const search = (path, name, at) => json(address('search', path, { name, at, limit: 500 }));
export const move = (from, to) => post('v1/move', { from, to });
export const copy = (from, at, to, replace) => post('v1/copy', { from, at, to, replace });
export const makeDirectory = path => json(address('directories', path), { method: 'PUT' });
export const remove = (path, recursive) => request(address('files', path, { recursive: recursive || undefined }), { method: 'DELETE' });
export const text = async (path, at, most) => {
  const answer = await request(address('files', path, { at }), { headers: { Range: `bytes=0-${most - 1}` } }).catch(error => {
    if (error.http === 416) return null; // an empty file has no range
    throw error;
  });
  return answer ? answer.text() : '';
};
export const manifest = digest => post('v1/objects/manifest', { digest });
export const share = (path, at) => post('v1/shares', { path, at });
export const logIn = (user, password) => request('v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ user, password }) });
export const logOut = () => request('v1/session', { method: 'DELETE' });

// follow tells of commits until it is closed. EventSource connects again by itself
// and misses none.
export function follow(tell) {
  const events = new EventSource('v1/changes/');
  events.addEventListener('commit', event => tell(JSON.parse(event.data)));
  return events;
}

// send makes a request with a large body and tells how much of it has gone; fetch
// cannot.
export function send(method, url, headers, body, tell) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = event => tell(event.loaded);
    request.onload = () => {
      if (request.status < 300) return resolve(request);
      let problem = null;
      try { problem = JSON.parse(request.responseText); } catch { /* no document */ }
      if (request.status === 401) document.dispatchEvent(new Event('unauthenticated'));
      reject(new Problem(request.status, problem));
    };
    request.onerror = () => reject(new Problem(0, { message: 'the connection broke: nothing was stored' }));
    request.onabort = () => reject(new Problem(0, { message: 'canceled: nothing was stored' }));
  });
  request.open(method, url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.send(body);
  return { done, cancel: () => request.abort() };
}

// put writes a file in one request.
export const put = (path, file, tell) => send('PUT', address('files', path), { 'Content-Type': 'application/octet-stream' }, file, sent => tell(sent / Math.max(1, file.size)));
