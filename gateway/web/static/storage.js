// The page of storage: what is stored, what sharing saves, how it grew, what is
// largest.
import { h, size, when } from './dom.js';
import * as api from './api.js';
import { show, title } from './panel.js';

const width = 560, height = 150;

export async function storage(goTo) {
  const info = await api.info();
  const rows = info.bounded ? [['Last revision', info.lastRevision]] : [['Files', info.files ?? 0], ['Directories', info.directories ?? 0], ['Payloads', info.payloads ?? 0], ['Chunks', info.chunks ?? 0], ['Database file', size(info.fileSize)], ['Last revision', info.lastRevision]];
  const bars = [['Content of all versions', info.payloadBytes ?? 0], ['Stored after sharing and compression', info.storedBytes ?? 0]], most = Math.max(1, ...bars.map(([, n]) => n));
  const growth = h('div', { class: 'growth' }), largest = h('div', { class: 'bars' }, h('p', {}, 'Looking at the files…'));
  show(title('Storage'),
    info.bounded ? h('p', {}, 'You see a part of the database; its totals are not told.') : h('div', { class: 'bars' }, ...bars.map(([name, n]) => bar(name, size(n), n / most)),
      h('p', {}, info.payloadBytes ? `Sharing and compression save ${Math.round(100 * (1 - info.storedBytes / info.payloadBytes))} %.` : '')),
    h('dl', { class: 'facts' }, ...rows.flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, value.toLocaleString())])),
    info.bounded ? '' : growth, h('h3', {}, 'Largest files'), largest);
  await Promise.all([info.bounded ? null : drawGrowth(growth), drawLargest(largest, goTo)]);
}

export function bar(name, text, part) {
  return h('div', {}, h('div', { class: 'line' }, typeof name === 'string' ? h('span', {}, name) : name, h('b', {}, text)), h('div', { class: 'track' }, h('svg', { viewBox: '0 0 100 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, h('rect', { width: 100 * part, height: 1 }))));
}

async function drawLargest(place, goTo) {
  const { found, complete } = await api.largest('', 12);
  if (!found.length) return place.replaceChildren(h('p', {}, 'There are no files.'));
  const most = Math.max(1, found[0].record.size);
  place.replaceChildren(...found.map(({ path, record }) => bar(h('button', { class: 'link', title: path, onclick: () => goTo(path.slice(1), record) }, path), size(record.size), record.size / most)),
    complete ? '' : h('p', {}, 'Not all files were looked at: there are too many.'));
}

// drawGrowth draws the bytes of the files that there were, and of all their versions,
// over the commits.
async function drawGrowth(place) {
  const { points, complete } = await api.growth();
  if (points.length < 2) return place.replaceChildren(h('h3', {}, 'Growth'), h('p', {}, 'After the second commit its growth shows here.'));
  const last = points.at(-1), top = Math.max(1, ...points.map(point => point.written));
  const x = i => width * i / (points.length - 1), y = n => height - (height - 6) * n / top;
  const line = member => points.map((point, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(point[member]).toFixed(1)}`).join('');
  const area = member => `${line(member)}L${width} ${height}L0 ${height}Z`;
  const told = `From revision ${points[0].revision} to ${last.revision}: the files grew from ${size(points[0].bytes)} to ${size(last.bytes)}, all versions to ${size(last.written)}.`;
  place.replaceChildren(h('h3', {}, 'Growth over revisions'),
    h('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': told }, ...[['written', 'written'], ['live', 'bytes']].flatMap(([name, member]) => [h('path', { class: `${name} area`, d: area(member) }), h('path', { class: name, d: line(member) })])),
    h('div', { class: 'axis' }, h('span', {}, when(points[0].time)), h('span', {}, when(last.time))),
    h('ul', { class: 'legend' }, h('li', { class: 'live' }, `Files now: ${size(last.bytes)}`), h('li', { class: 'written' }, `All versions: ${size(last.written)}`)),
    complete ? '' : h('p', {}, 'The history is long: ask again in a moment for the rest.'));
}
