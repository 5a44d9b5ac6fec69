// Two versions of a text beside each other.
import { $, h, say } from './dom.js';
import * as api from './api.js';
import { mostText } from './preview.js';

const mostCells = 4e6;
const context = 3; // lines around a change that are shown

// edits tells how to get from one list of lines to another: [kind, a line, b line],
// kind being ' ', '-' or '+'.
export function edits(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const out = a.slice(0, head).map((_, i) => [' ', i, i]);
  if (x.length * y.length > mostCells) out.push(...x.map((_, i) => ['-', head + i]), ...y.map((_, j) => ['+', undefined, head + j]));
  else {
    const width = y.length + 1, best = new Uint32Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) out.push([' ', head + i++, head + j++]);
      else if (i < x.length && (j === y.length || best[(i + 1) * width + j] >= best[i * width + j + 1])) out.push(['-', head + i++]);
      else out.push(['+', undefined, head + j++]);
    }
  }
  for (let i = tail; i > 0; i--) out.push([' ', a.length - i, b.length - i]);
  return out;
}

// sides pairs what went with what came in its place.
export function sides(list) {
  const rows = [];
  for (let i = 0; i < list.length;) {
    if (list[i][0] === ' ') { rows.push({ same: true, left: list[i][1], right: list[i][2] }); i++; continue; }
    const gone = [], come = [];
    for (; i < list.length && list[i][0] !== ' '; i++) (list[i][0] === '-' ? gone : come).push(list[i]);
    for (let j = 0; j < Math.max(gone.length, come.length); j++) rows.push({ left: gone[j]?.[1], right: come[j]?.[2] });
  }
  return rows;
}

// within marks the words of a line that another does not have.
function within(line, other) {
  if (!line || !other || line.length + other.length > 4000) return [line ?? ''];
  const words = text => text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];
  const a = words(line), list = edits(a, words(other)).filter(([kind]) => kind !== '+');
  const alike = list.filter(([kind]) => kind === ' ').reduce((sum, [, i]) => sum + a[i].trim().length, 0);
  if (alike < line.length / 4) return [line]; // hardly anything is alike
  const out = [];
  for (let i = 0; i < list.length;) {
    const kind = list[i][0];
    let text = '';
    for (; i < list.length && list[i][0] === kind; i++) text += a[list[i][1]];
    out.push(kind === ' ' ? text : h('mark', {}, text));
  }
  return out;
}

function table(a, b) {
  const rows = sides(edits(a, b)), body = h('tbody'), near = i => rows.slice(Math.max(0, i - context), i + context + 1).some(row => !row.same);
  for (let i = 0; i < rows.length;) {
    if (!near(i)) {
      let end = i;
      while (end < rows.length && !near(end)) end++;
      const from = i, hidden = h('tr', { class: 'gap' }, h('td', { colspan: '4' }, h('button', { onclick: () => hidden.replaceWith(...rows.slice(from, end).map(row => line(row, a, b))) }, `Show ${end - from} lines that are the same`)));
      body.append(hidden);
      i = end;
      continue;
    }
    body.append(line(rows[i++], a, b));
  }
  return body;
}

function line(row, a, b) {
  const left = a[row.left], right = b[row.right], number = n => (n === undefined ? '' : String(n + 1));
  return h('tr', { class: row.same ? 'same' : '' }, h('td', { class: 'number' }, number(row.left)),
    h('td', { class: row.same || left === undefined ? '' : 'gone' }, row.same || left === undefined ? left ?? '' : h('del', {}, ...within(left, right))),
    h('td', { class: 'number' }, number(row.right)),
    h('td', { class: row.same || right === undefined ? '' : 'come' }, row.same || right === undefined ? right ?? '' : h('ins', {}, ...within(right, left))));
}

// compare shows what changed from one version of a file to another.
export async function compare(path, name, older, newer) {
  try {
    const [a, b] = (await Promise.all([older, newer].map(version => api.text(path, version.revision, mostText)))).map(text => text.split('\n'));
    const dialog = $('wide');
    dialog.replaceChildren(h('div', { class: 'title' }, h('h2', { id: 'wide-title', tabindex: '-1' }, name), h('button', { 'aria-label': 'Close the comparison', onclick: () => dialog.close() }, '✕')),
      h('div', { class: 'diff', tabindex: '0', role: 'region', 'aria-label': `From revision ${older.revision} to ${newer.revision}` },
        h('table', {}, h('colgroup', {}, ...['number', '', 'number', ''].map(name => h('col', { class: name }))), h('thead', {}, h('tr', {}, h('th', { colspan: '2', scope: 'col' }, `Revision ${older.revision}`), h('th', { colspan: '2', scope: 'col' }, `Revision ${newer.revision}`))), table(a, b))));
    dialog.showModal();
    dialog.querySelector('h2').focus();
  } catch (error) { say(error.message); }
}
