// Uploads: a few at a time, each whole or not at all on the server.
import { $, h, size } from './dom.js';
import * as api from './api.js';
import * as resumable from './resumable.js';

const atOnce = 3;
const waiting = [];
let active = 0, can = false, unfinished = [];

function heading() {
  $('uploads').hidden = false;
  if ($('uploads').firstChild) return;
  $('uploads').append(h('h2', {}, 'Uploads', h('button', { 'aria-label': 'Close the list of uploads', onclick: () => { $('uploads').hidden = true; } }, '✕')));
}

function row(one, ...buttons) {
  one.progress ??= h('progress', { max: 1, value: 0, 'aria-label': `Upload of ${one.path}` });
  one.note = h('span', { title: one.path }, one.path);
  one.buttons = h('span', { class: 'buttons' }, ...buttons);
  one.detail = h('small', {});
  one.row = h('div', { class: 'upload' }, one.note, one.buttons, one.progress, one.detail);
  $('uploads').append(one.row);
}

function clear(one) {
  one.row.remove();
  if (!$('uploads').querySelector('.upload')) { $('uploads').hidden = true; $('uploads').replaceChildren(); }
}

// add uploads files of {path, file}.
export function add(files) {
  heading();
  for (const { path, file } of files) {
    const left = unfinished.find(other => resumable.same(other, path, file));
    if (left) forget(left);
    const one = { path, file, id: left?.id };
    row(one, h('button', { 'aria-label': `Cancel ${path}`, onclick: () => cancel(one) }, 'Cancel'));
    waiting.push(one);
  }
  next();
}

function forget(left) {
  unfinished = unfinished.filter(other => other !== left);
  left.row.remove();
}

function cancel(one) {
  const i = waiting.indexOf(one);
  if (i < 0) return one.cancel?.();
  waiting.splice(i, 1);
  if (one.id) resumable.discard(one.id).catch(() => {});
  clear(one);
}

function next() {
  while (active < atOnce && waiting.length) {
    active++;
    run(waiting.shift()).finally(() => { active--; next(); });
  }
}

async function run(one) {
  const tell = done => { one.progress.value = done; };
  const upload = can && one.file.size >= resumable.smallest ? resumable.put(one.path, one.file, tell, one.id) : api.put(one.path, one.file, tell);
  one.cancel = upload.cancel;
  try {
    await upload.done;
    one.progress.value = 1;
    one.note.textContent = `✓ ${one.path}`;
    one.buttons.replaceChildren();
  } catch (error) {
    one.detail.textContent = error.message;
    one.detail.className = 'bad';
    const again = () => { clear(one); one.id = upload.id; add([one]); };
    one.buttons.replaceChildren(h('button', { 'aria-label': `Upload ${one.path} again`, onclick: again }, 'Again'),
      h('button', { 'aria-label': `Remove ${one.path} from the list`, onclick: () => clear(one) }, '✕'));
  }
}

// start shows what an earlier page left unfinished. A page cannot open a file again by
// itself: somebody has to choose it.
export async function start() {
  try { unfinished = await resumable.unfinished(); } catch (error) {
    if (error.http) return; // the server takes every upload in one request
    throw error;
  }
  can = true;
  for (const one of unfinished) {
    heading();
    row(one, h('button', { 'aria-label': `Choose the file again to continue ${one.path}`, onclick: () => choose(one) }, 'Continue…'),
      h('button', { 'aria-label': `Discard ${one.path}`, onclick: () => resumable.discard(one.id).catch(() => {}).then(() => { forget(one); clear(one); }) }, 'Discard'));
    one.progress.value = one.offset / one.size;
    one.detail.textContent = `${size(one.offset)} of ${size(one.size)} arrived`;
  }
}

function choose(one) {
  const input = h('input', { type: 'file', 'aria-label': `The file to continue ${one.path} with` });
  input.onchange = () => {
    const file = input.files[0];
    if (!file) return;
    if (resumable.same(one, one.path, file)) return add([{ path: one.path, file }]);
    one.detail.textContent = `${file.name} is another file, or has changed`;
    one.detail.className = 'bad';
  };
  input.click();
}

// dropped returns the files of a drop, those in folders too.
export async function dropped(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map(file => ({ path: file.name, file }));
  const files = [];
  const walk = async entry => {
    if (entry.isFile) files.push({ path: entry.fullPath.slice(1), file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
    else {
      const reader = entry.createReader();
      for (let some; (some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;) for (const one of some) await walk(one);
    }
  };
  for (const entry of entries) await walk(entry);
  return files;
}
