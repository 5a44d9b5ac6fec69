// The page: a place in the tree, at a revision, and what can be done there.
import { $, h, say, ask, when } from './dom.js';
import * as api from './api.js';
import * as panel from './panel.js';
import * as uploads from './uploads.js';
import { storage } from './storage.js';
import { List } from './list.js';

const state = { path: '', at: 0, write: false, whole: true, timeline: [], file: false };
let events;

const join = (...parts) => parts.filter(Boolean).join('/');
const hash = (path, at) => `#/${path.split('/').filter(Boolean).map(encodeURIComponent).join('/')}${at ? `?at=${at}` : ''}`;
const go = (path, at = state.at) => { location.hash = hash(path, at); };
const pathOf = item => item.path ?? join(state.path, item.name);

const list = new List({
  fetch: async (after, limit, at, signal) => (await api.page(state.path, after, state.at || at, limit, signal)).map(item => ({ ...item, href: hash(join(state.path, item.name), state.at) })),
  outline: signal => api.outline(state.path, state.at, signal),
  selected: () => chosen(),
  open: item => (item.kind === 'directory' ? go(pathOf(item)) : details(item)),
  choose: item => details(item),
  menu: (key, item) => {
    if (key === 'Backspace') return state.path && go(state.path.split('/').slice(0, -1).join('/'));
    if (key === 'Delete' && list.chosen.size && state.write && !state.at) return removeChosen();
    if (item && state.write && !state.at) (key === 'Delete' ? removeItem : rename)(pathOf(item), item);
  },
  failed: error => say(error.message),
});

async function details(item) {
  const path = pathOf(item);
  await panel.details(path, item, { at: state.at, write: state.write, whole: state.whole, actions: {
    rename: () => rename(path, item), remove: () => removeItem(path, item), move: () => moveItem(path, item), share: state.canShare ? () => shareItem(path) : null,
  } });
}

async function attempt(action, done) {
  try { await action(); if (done) say(done); } catch (error) { say(error.message); }
}

async function rename(path, item) {
  const name = await ask('Rename', { value: item.name, action: 'Rename' });
  if (name && name !== item.name) await attempt(() => api.move(path, join(path.split('/').slice(0, -1).join('/'), name)), `Renamed to ${name}`);
}

async function moveItem(path, item) {
  const to = await ask('Move to the directory', { value: `/${path.split('/').slice(0, -1).join('/')}`, action: 'Move' });
  if (to !== null) await attempt(() => api.move(path, join(to.replace(/^\/+|\/+$/g, ''), item.name)), `Moved ${item.name}`);
}

async function removeItem(path, item) {
  const yes = await ask(`Delete ${item.name}?`, { text: 'It stays in the history, from which it can be restored.', action: 'Delete', danger: true });
  if (yes) await attempt(async () => { await api.remove(path, item.kind === 'directory'); panel.close(); }, `Deleted ${item.name}`);
}

// What is done with the rows that are selected.
const paths = () => [...list.chosen.values()].map(pathOf);
const several = n => (n === 1 ? [...list.chosen.values()][0].name : `${n} items`);

function chosen() {
  const n = list.chosen.size;
  $('chosen').hidden = !n;
  $('bar').hidden = Boolean(n);
  $('how-many').textContent = `${n} selected`;
}

async function removeChosen() {
  const n = list.chosen.size, what = several(n);
  const yes = await ask(`Delete ${what}?`, { text: 'One commit: history keeps it, and it can be restored.', action: 'Delete', danger: true });
  if (yes) await attempt(async () => { await api.removeAll(paths()); list.clear(); panel.close(); }, `Deleted ${what}`);
}

async function moveChosen() {
  const what = several(list.chosen.size);
  const to = await ask(`Move ${what} to the directory`, { value: `/${state.path}`, action: 'Move' });
  if (to !== null) await attempt(async () => { await api.moveInto(to.replace(/^\/+|\/+$/g, ''), paths()); list.clear(); }, `Moved ${what}`);
}

function saveChosen() {
  const items = [...list.chosen.values()];
  if (items.length === 1 && items[0].kind !== 'directory') return panel.save(pathOf(items[0]), false, state.at);
  if ($('query').value) return say('Several that were found lie in several directories: download them one by one.');
  panel.save(state.path, true, state.at, items.map(item => item.name));
}

$('save-chosen').onclick = saveChosen;
$('move-chosen').onclick = moveChosen;
$('remove-chosen').onclick = removeChosen;
$('clear-chosen').onclick = () => { list.clear(); $('list').focus(); };

async function shareItem(path) {
  await attempt(async () => {
    const link = await api.share(path, state.at);
    await ask('Anyone with this link can read it for a week', { value: new URL(link.path, location).href, action: 'Done' });
  });
}

function crumbs() {
  const names = state.path.split('/').filter(Boolean);
  $('crumbs').replaceChildren(h('a', { href: hash('', state.at), 'aria-current': names.length ? null : 'page' }, 'Home'),
    ...names.flatMap((name, i) => [h('i', { 'aria-hidden': 'true' }, '/'), h('a', { href: hash(names.slice(0, i + 1).join('/'), state.at), 'aria-current': i === names.length - 1 ? 'page' : null }, name)]));
  document.title = `${names.at(-1) ?? 'Home'} – Stardust`;
}

function note(text) { $('empty').hidden = !text; $('empty').textContent = text ?? ''; }

async function load(keep) {
  $('query').value = keep ? $('query').value : '';
  crumbs();
  try {
    await list.load(keep);
    note(list.count ? null : state.write && !state.at ? 'Nothing here yet. Drop files anywhere on this page.' : 'Nothing here.');
  } catch (error) {
    if (error.name === 'AbortError') return;
    list.show([]);
    note(error.http === 404 ? `There is no such directory${state.at ? ' at this revision' : ''}.` : error.message);
  }
  for (const element of document.querySelectorAll('.write')) element.hidden = !state.write || Boolean(state.at);
  $('present').hidden = !state.at || state.bound;
}

async function route() {
  const [path, query] = location.hash.slice(2).split('?');
  const before = state.path;
  state.path = path.split('/').filter(Boolean).map(decodeURIComponent).join('/');
  state.at = Number(new URLSearchParams(query ?? '').get('at')) || state.bound || 0;
  if (before !== state.path) panel.close();
  await load(false);
  if (!$('time').hidden) await timeline(before !== state.path);
}

// The slider goes over the commits that did something here.
async function timeline(anew) {
  if (anew || !state.timeline.length) state.timeline = (await api.commits(state.path, 0, 1000)).reverse();
  const slider = $('slider');
  slider.max = Math.max(0, state.timeline.length - 1);
  const i = state.at ? state.timeline.findLastIndex(commit => commit.revision <= state.at) : state.timeline.length - 1;
  slider.value = Math.max(0, i);
  tell(state.timeline[Math.max(0, i)]);
}

function tell(commit) {
  $('when').textContent = commit ? `${commit.revision} · ${when(commit.time)}` : 'nothing was committed here';
  $('slider').setAttribute('aria-valuetext', $('when').textContent);
  $('commit').replaceChildren(...(commit?.changes ?? []).slice(0, 50).map(change => h('li', { class: change.action }, h('b', {}, change.action), ` ${change.from ? `${change.from} → ` : ''}${change.path}`)));
}

$('past').onclick = () => attempt(async () => {
  const open = $('time').hidden;
  $('time').hidden = !open;
  $('past').setAttribute('aria-expanded', open);
  if (open) await timeline(true);
  else if (state.at && !state.bound) go(state.path, 0);
});
$('slider').oninput = () => tell(state.timeline[$('slider').value]);
$('slider').onchange = () => {
  const i = Number($('slider').value);
  go(state.path, i === state.timeline.length - 1 ? 0 : state.timeline[i]?.revision ?? 0);
};
$('present').onclick = () => go(state.path, 0);
$('zip').onclick = () => panel.save(state.path, true, state.at);
$('storage').onclick = () => attempt(() => storage((path, record) => details({ ...record, path })));
$('folder').onclick = async () => {
  const name = await ask('New folder', { value: 'folder', action: 'Make' });
  if (name) await attempt(() => api.makeDirectory(join(state.path, name)), `Made ${name}`);
};
$('choose').onclick = () => $('file').click();
$('file').onchange = () => { uploads.add([...$('file').files].map(file => ({ path: join(state.path, file.name), file }))); $('file').value = ''; };
$('theme').onclick = () => {
  const dark = (document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  localStorage.theme = document.documentElement.dataset.theme = dark ? 'light' : 'dark';
};
if (localStorage.theme) document.documentElement.dataset.theme = localStorage.theme;
$('skip').onclick = event => { event.preventDefault(); $('list').focus(); };

$('search').onsubmit = event => { event.preventDefault(); search(); };
let typing;
$('query').oninput = () => { clearTimeout(typing); typing = setTimeout(search, 250); };
async function search() {
  const name = $('query').value.trim();
  if (!name) return load(false);
  await attempt(async () => {
    const { found, complete } = await api.search(state.path, name, state.at);
    if ($('query').value.trim() !== name) return;
    list.show(found.map(({ path, record }) => ({ ...record, path: join(state.path, path.slice(1)), where: path.split('/').slice(0, -1).join('/'), href: hash(join(state.path, path.slice(1)), state.at) })));
    note(found.length ? null : `Nothing here is named like ${name}.`);
    say(`${found.length} found${complete ? '' : ', and there are more'}`);
  });
}

let dragging = 0;
const files = event => event.dataTransfer?.types.includes('Files') && state.write && !state.at;
addEventListener('dragenter', event => { if (files(event)) { dragging++; $('drop').hidden = false; } });
addEventListener('dragleave', event => { if (files(event) && --dragging <= 0) $('drop').hidden = true; });
addEventListener('dragover', event => { if (files(event)) event.preventDefault(); });
addEventListener('drop', async event => {
  if (!files(event)) return;
  event.preventDefault();
  dragging = 0;
  $('drop').hidden = true;
  const into = state.path;
  await attempt(async () => uploads.add((await uploads.dropped(event.dataTransfer)).map(({ path, file }) => ({ path: join(into, path), file }))));
});
addEventListener('keydown', event => {
  if (event.key === 'Escape' && !$('dialog').open && !$('wide').open) panel.close();
  if (event.key === '/' && !event.target.closest('input, dialog')) { event.preventDefault(); $('query').focus(); }
});

// Other clients' commits show by themselves.
let reload;
function changed(commit) {
  const prefix = state.path ? `/${state.path}/` : '/';
  const here = commit.changes.flatMap(change => [change.path, change.from]).filter(path => path?.startsWith(prefix) || path === prefix.slice(0, -1));
  if (state.timeline.length) state.timeline = [];
  if (!here.length && !commit.more) return;
  for (const path of here) list.fresh.add(path.slice(prefix.length).split('/')[0]);
  setTimeout(() => list.fresh.clear(), 2000);
  if (state.at || $('query').value) return;
  clearTimeout(reload);
  reload = setTimeout(() => load(true), 100);
}

document.addEventListener('unauthenticated', () => {
  document.body.classList.add('locked');
  $('login').hidden = false;
  $('user').focus();
});
$('login').onsubmit = async event => {
  event.preventDefault();
  $('refused').textContent = '';
  try {
    await api.logIn($('user').value, $('password').value);
    $('password').value = '';
    document.body.classList.remove('locked');
    $('login').hidden = true;
    await start();
  } catch (error) { $('refused').textContent = error.message; }
};
$('logout').onclick = () => attempt(async () => { await api.logOut(); location.reload(); });

async function start() {
  let info;
  try { info = await api.info(); } catch (error) { if (error.http !== 401) note(error.message); return; }
  const shared = /\/s\/[^/]+\/$/.test(location.pathname);
  Object.assign(state, { write: info.write, whole: !info.bounded, bound: info.at ?? 0, canShare: Boolean(info.name) && !shared });
  $('logout').hidden = !info.name || shared;
  $('storage').hidden = shared;
  $('past').hidden = Boolean(info.at);
  const only = shared ? await api.file('', state.bound).catch(() => null) : null;
  if (only) {
    $('browser').hidden = $('search').hidden = true;
    $('panel').classList.add('alone');
    return panel.details('', only, { at: state.bound, write: false, whole: false, actions: {} });
  }
  addEventListener('hashchange', route);
  await route();
  events?.close();
  if (!info.at) events = api.follow(changed);
  if (info.write) await attempt(uploads.start);
}
await start();
