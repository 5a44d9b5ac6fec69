// Uploads: a few at a time, each whole or not at all on the server.
import { $, h } from './dom.js';
import * as api from './api.js';

const atOnce = 3;
const waiting = [];
let active = 0;

// add uploads files of {path, file}.
export function add(files) {
  $('uploads').hidden = false;
  if (!$('uploads').firstChild) {
    $('uploads').append(h('h2', {}, 'Uploads', h('button', { 'aria-label': 'Close the list of uploads', onclick: () => { $('uploads').hidden = true; $('uploads').replaceChildren(); } }, '✕')));
  }
  for (const { path, file } of files) {
    const one = { path, file, progress: h('progress', { max: 1, value: 0, 'aria-label': `Upload of ${path}` }), note: h('span', {}, path) };
    one.button = h('button', { 'aria-label': `Cancel ${path}`, onclick: () => cancel(one) }, 'Cancel');
    one.row = h('div', { class: 'upload' }, one.note, one.button, one.progress);
    $('uploads').append(one.row);
    waiting.push(one);
  }
  next();
}

function cancel(one) {
  const i = waiting.indexOf(one);
  if (i < 0) return one.cancel?.();
  waiting.splice(i, 1);
  one.row.remove();
}

async function next() {
  while (active < atOnce && waiting.length) {
    active++;
    run(waiting.shift()).finally(() => { active--; next(); });
  }
}

async function run(one) {
  try {
    const upload = api.put(one.path, one.file, done => { one.progress.value = done; });
    one.cancel = upload.cancel;
    await upload.done;
    one.progress.value = 1;
    one.note.textContent = `✓ ${one.path}`;
    one.button.remove();
  } catch (error) {
    one.note.textContent = `${one.path}: ${error.message}`;
    one.note.className = 'bad';
    one.button.replaceWith(h('button', { onclick: event => { event.target.closest('.upload').remove(); add([one]); } }, 'Again'));
  }
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
