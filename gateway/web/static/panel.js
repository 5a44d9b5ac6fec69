// What is known of one file or directory: a preview, its versions, its chunks.
import { $, h, size, when, kindOf, say } from './dom.js';
import * as api from './api.js';
import { compare } from './diff.js';
import { fill } from './preview.js';

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
  const preview = h('div', { class: 'preview' }), versions = h('ul', { class: 'versions', 'aria-label': 'Versions' }), chunks = h('div'), copies = h('div');
  const download = h('button', { class: 'primary', onclick: () => save(path, directory, at) }, directory ? 'Download as zip' : 'Download');
  show(title(name), directory ? '' : preview,
    h('div', { class: 'buttons' }, download, ...(write && !at ? [h('button', { onclick: actions.rename }, 'Rename'), h('button', { onclick: actions.move }, 'Move'), h('button', { class: 'danger', onclick: actions.remove }, 'Delete')] : []),
      actions.share ? h('button', { onclick: actions.share }, 'Share') : null),
    h('dl', { class: 'facts' }, ...[['Size', directory ? '' : `${size(item.size)}${item.size >= 1024 ? ` (${item.size.toLocaleString()} bytes)` : ''}`], ['Changed', when(item.time)], ['Revision', item.revision], ['SHA-256', item.digest?.['#sha256'] ?? '']]
      .filter(([, value]) => value !== '' && value !== undefined).flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, String(value))])),
    chunks, copies, item.entity ? h('h3', {}, 'Versions') : '', versions);
  if (!directory) fill(preview, path, at, item);
  try {
    const all = item.entity ? await api.history(path, at) : [];
    versions.append(...all.reverse().map((version, i) => h('li', {}, h('span', {}, `Revision ${version.revision}`, h('small', {}, `${when(version.time)}${version.size == null ? '' : ` · ${size(version.size)}`}${version.name === item.name ? '' : ` · as ${version.name}`}`)),
      directory ? null : h('span', { class: 'buttons' },
        i + 1 < all.length && kindOf(name) === 'text' ? h('button', { onclick: () => compare(path, name, all[i + 1], version) }, 'Diff') : null,
        h('button', { onclick: () => fill(preview, path, version.revision, version) }, 'View'),
        h('button', { onclick: () => save(path, false, version.revision) }, 'Save'),
        i > 0 && write && !at ? h('button', { onclick: () => restore(path, version) }, 'Restore') : null))));
    if (whole && !directory) await Promise.all([drawChunks(chunks, all), drawCopies(copies, item)]);
  } catch (error) { say(error.message); }
}

async function restore(path, version) {
  try {
    await api.copy(path, version.revision, path, true);
    say(`Restored as it was at revision ${version.revision}`);
  } catch (error) { say(error.message); }
}

// save downloads a file, or a directory as a zip, of some of its children only.
export function save(path, directory, at, only) {
  const link = h('a', { href: api.address('files', path, { at, format: directory ? 'zip' : undefined, only }), download: '' });
  document.body.append(link);
  link.click();
  link.remove();
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

// drawCopies names the other files of the same content, which is stored once.
async function drawCopies(place, item) {
  const others = (await api.files(item.digest)).filter(entity => entity !== item.entity);
  if (!others.length) return;
  const paths = await Promise.all(others.slice(0, 5).map(entity => api.pathOf(entity)));
  place.replaceChildren(h('h3', {}, `Stored once with ${others.length} other ${others.length === 1 ? 'file' : 'files'}`),
    h('ul', { class: 'copies' }, ...paths.map(path => h('li', {}, h('a', { href: `#/${path.slice(0, -1).map(encodeURIComponent).join('/')}` }, `/${path.join('/')}`)))));
}
