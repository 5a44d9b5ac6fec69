// What is known of one file or directory: a preview, its versions, its chunks.
import { $, h, size, when, kindOf, say } from './dom.js';
import * as api from './api.js';

const mostText = 256 << 10;

export function close() { $('panel').hidden = true; $('panel').replaceChildren(); }

export function title(text) {
  return h('div', { class: 'title' }, h('h2', { tabindex: '-1' }, text), h('button', { 'aria-label': 'Close the details', onclick: close }, '✕'));
}

export function show(...children) {
  $('panel').hidden = false;
  $('panel').replaceChildren(...children);
  $('panel').querySelector('h2').focus({ preventScroll: true });
}

export async function details(path, item, { at, write, whole, actions }) {
  const directory = item.kind === 'directory', name = item.name || 'This file';
  const preview = h('div', { class: 'preview' }), versions = h('ul', { class: 'versions', 'aria-label': 'Versions' }), chunks = h('div');
  const download = h('button', { class: 'primary', onclick: () => save(path, directory, at) }, directory ? 'Download as zip' : 'Download');
  show(title(name), directory ? '' : preview,
    h('div', { class: 'buttons' }, download, ...(write && !at ? [h('button', { onclick: actions.rename }, 'Rename'), h('button', { onclick: actions.move }, 'Move'), h('button', { class: 'danger', onclick: actions.remove }, 'Delete')] : []),
      actions.share ? h('button', { onclick: actions.share }, 'Share') : null),
    h('dl', { class: 'facts' }, ...[['Size', directory ? '' : `${size(item.size)}${item.size >= 1024 ? ` (${item.size.toLocaleString()} bytes)` : ''}`], ['Changed', when(item.time)], ['Revision', item.revision], ['SHA-256', item.digest?.['#sha256'] ?? '']]
      .filter(([, value]) => value !== '' && value !== undefined).flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, String(value))])),
    chunks, item.entity ? h('h3', {}, 'Versions') : '', versions);
  if (!directory) fill(preview, path, at, item);
  try {
    const all = item.entity ? await api.history(path, at) : [];
    versions.append(...all.reverse().map((version, i) => h('li', {}, h('span', {}, `Revision ${version.revision}`, h('small', {}, `${when(version.time)}${version.size == null ? '' : ` · ${size(version.size)}`}${version.name === item.name ? '' : ` · as ${version.name}`}`)),
      directory ? null : h('span', { class: 'buttons' },
        i + 1 < all.length && kindOf(name) === 'text' ? h('button', { onclick: () => compare(preview, path, all[i + 1], version) }, 'Diff') : null,
        h('button', { onclick: () => fill(preview, path, version.revision, version) }, 'View'),
        h('button', { onclick: () => save(path, false, version.revision) }, 'Save'),
        i > 0 && write && !at ? h('button', { onclick: () => restore(path, version) }, 'Restore') : null))));
    if (whole && !directory) await drawChunks(chunks, all);
  } catch (error) { say(error.message); }
}

async function restore(path, version) {
  try {
    await api.copy(path, version.revision, path, true);
    say(`Restored as it was at revision ${version.revision}`);
  } catch (error) { say(error.message); }
}

export function save(path, directory, at) {
  const link = h('a', { href: api.address('files', path, { at, format: directory ? 'zip' : undefined }), download: '' });
  document.body.append(link);
  link.click();
  link.remove();
}

function fill(preview, path, at, item) {
  const url = api.address('files', path, { at, inline: true }), kind = kindOf(item.name || path);
  const failed = () => preview.replaceChildren(h('p', {}, 'It cannot be shown.'));
  if (kind === 'image') preview.replaceChildren(h('img', { src: url, alt: `Preview of ${item.name}`, onerror: failed }));
  else if (kind === 'audio' || kind === 'video') preview.replaceChildren(h(kind, { src: url, controls: true, preload: 'metadata', 'aria-label': `Preview of ${item.name}`, onerror: failed }));
  else if (kind === 'pdf') preview.replaceChildren(h('iframe', { src: url, title: `Preview of ${item.name}` }));
  else if (kind === 'text' || item.size <= 64 << 10) {
    api.text(path, at, mostText).then(text => {
      if (text.includes('\0') || text.includes('\ufffd')) return preview.replaceChildren(h('p', {}, 'There is no preview of this kind of file.'));
      preview.replaceChildren(h('pre', { tabindex: '0', 'aria-label': 'Content' }, text || ' '), ...(item.size > mostText ? [h('p', {}, `The first ${size(mostText)} of ${size(item.size)}.`)] : []));
    }, failed);
  } else preview.replaceChildren(h('p', {}, 'There is no preview of this kind of file.'));
}

// compare shows two versions of a text line by line.
async function compare(preview, path, older, newer) {
  try {
    const [a, b] = (await Promise.all([older, newer].map(version => api.text(path, version.revision, mostText)))).map(text => text.split('\n'));
    preview.replaceChildren(h('pre', { tabindex: '0', 'aria-label': `From revision ${older.revision} to ${newer.revision}` }, ...diff(a, b)));
  } catch (error) { say(error.message); }
}

const mostCells = 4e6;

export function diff(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), out = a.slice(0, head).map(line => `  ${line}\n`);
  if (x.length * y.length > mostCells) out.push(...x.map(line => h('del', {}, line)), ...y.map(line => h('ins', {}, line)));
  else {
    const width = y.length + 1, best = new Uint32Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) { out.push(`  ${x[i]}\n`); i++; j++; }
      else if (i < x.length && (j === y.length || best[(i + 1) * width + j] >= best[i * width + j + 1])) out.push(h('del', {}, x[i++]));
      else out.push(h('ins', {}, y[j++]));
    }
  }
  return [...out, ...a.slice(a.length - tail).map(line => `  ${line}\n`)];
}

// drawChunks draws a file's chunks, those shared with earlier versions in another
// color.
async function drawChunks(place, versions) {
  const current = versions[0];
  if (!current?.size) return;
  const manifests = await Promise.all(versions.slice(0, 6).map(version => api.manifest(version.digest)));
  const earlier = new Set(manifests.slice(1).flatMap(manifest => (manifest.chunks ?? []).map(chunk => chunk.digest['#sha256'])));
  const chunks = manifests[0].chunks ?? [];
  let offset = 0, shared = 0;
  const rects = chunks.map(chunk => {
    const known = earlier.has(chunk.digest['#sha256']), width = 100 * chunk.size / current.size, x = offset;
    offset += width;
    if (known) shared += chunk.size;
    return h('rect', { class: known ? 'shared' : 'own', x, y: 0, width, height: 10 });
  });
  place.replaceChildren(h('h3', {}, `${chunks.length} ${chunks.length === 1 ? 'chunk' : 'chunks'}${versions.length > 1 ? `, ${Math.round(100 * shared / current.size)} % shared with earlier versions` : ''}`),
    h('svg', { class: 'chunks', viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Chunks of this version' }, ...rects));
}

// storage shows what the database holds and what sharing saves.
export async function storage() {
  const info = await api.info();
  const rows = info.bounded ? [['Last revision', info.lastRevision]] : [['Files', info.files ?? 0], ['Directories', info.directories ?? 0], ['Payloads', info.payloads ?? 0], ['Chunks', info.chunks ?? 0], ['Database file', size(info.fileSize)], ['Last revision', info.lastRevision]];
  const bars = [['Content of all versions', info.payloadBytes ?? 0], ['Stored after sharing', info.chunkBytes ?? 0]], most = Math.max(1, ...bars.map(([, n]) => n));
  show(title('Storage'), info.bounded ? h('p', {}, 'You see a part of the database; its totals are not told.') : h('div', { class: 'bars' }, ...bars.map(([name, n]) => bar(name, size(n), n / most)),
    h('p', {}, info.payloadBytes ? `Sharing saves ${Math.round(100 * (1 - info.chunkBytes / info.payloadBytes))} %.` : '')),
  h('dl', { class: 'facts' }, ...rows.flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, value.toLocaleString())])));
}

export function bar(name, text, part) {
  return h('div', {}, h('label', {}, h('span', {}, name), h('b', {}, text)), h('div', { class: 'track' }, h('svg', { viewBox: '0 0 100 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, h('rect', { width: 100 * part, height: 1 }))));
}
