// The rows of a directory. Only those in view are in the document, and of a large
// directory only the pages near them in memory, so that a million entries cost no more
// than a screen of them, and any part is one request away.
import { $, h, size, when, kindOf, ending } from './dom.js';

const pageSize = 1000; // that of the server's outlines
const mostPages = 12;
const mostAtOnce = 2;
const tallest = 8e6; // what browsers draw well, in pixels; beyond, a pixel of the bar is several rows

const key = item => item.path ?? item.name;

export class List {
  constructor({ fetch, outline, open, choose, menu, failed, selected }) {
    Object.assign(this, { fetch, outline, open, choose, menu, failed, selected, fresh: new Set() });
    this.reset();
    this.grid = $('list');
    this.rows = $('rows');
    this.grid.addEventListener('scroll', () => this.draw(), { passive: true });
    this.grid.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.grid);
  }

  reset() { Object.assign(this, { pages: new Map(), count: 0, after: [], at: undefined, bytes: 0, active: -1, from: -1, chosen: new Map() }); }

  get height() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')); }

  item(i) { return this.pages.get(Math.floor(i / pageSize))?.[i % pageSize]; }

  // load reads a directory's beginning; keep says that it is the one that is shown, and
  // that somebody changed it.
  async load(keep) {
    this.abort?.abort();
    const { signal } = this.abort = new AbortController();
    const items = await this.fetch('', pageSize, undefined, signal);
    if (signal.aborted) return;
    if (items.length === pageSize) this.begin(items, keep); // what is known shows while the rest is counted
    const outline = items.length < pageSize ? null : await this.outline(signal);
    if (signal.aborted) return;
    const { active, chosen, from } = this, name = this.item(active)?.name, top = this.grid.scrollTop;
    this.reset();
    this.pages.set(0, items);
    this.count = outline?.count ?? items.length;
    this.after = outline?.after ?? [];
    this.at = outline?.revision;
    if (keep || outline) {
      // A name tells the active row again only where it is in memory.
      const again = outline ? active : items.findIndex(item => item.name === name);
      const there = outline ? null : new Set(items.map(key));
      Object.assign(this, { active: Math.min(again, this.count - 1), from, chosen: new Map([...chosen].filter(([name]) => !there || there.has(name))) });
    }
    this.draw();
    this.grid.scrollTop = keep || outline ? top : 0;
    this.selected();
  }

  // begin shows the beginning of a large directory.
  begin(items, keep) {
    if (keep) {
      this.pages.set(0, items);
      return this.draw();
    }
    this.reset();
    this.pages.set(0, items);
    this.count = items.length;
    this.draw();
    this.grid.scrollTop = 0;
    this.selected();
  }

  // show shows items that are no directory's.
  show(items) {
    this.abort?.abort();
    this.abort = new AbortController();
    this.reset();
    for (let i = 0; i < items.length; i += pageSize) this.pages.set(i / pageSize, items.slice(i, i + pageSize));
    this.count = items.length;
    this.grid.scrollTop = 0;
    this.draw();
    this.selected();
  }

  // need fetches the pages of what is in view, a moment after scrolling rests.
  need(pages) {
    clearTimeout(this.soon);
    this.wanted = pages;
    if (pages.length) this.soon = setTimeout(() => this.fill(), 60);
  }

  async fill() {
    const { signal } = this.abort;
    this.under ??= new Set();
    for (const page of this.wanted) {
      if (this.pages.has(page) || this.under.has(page) || this.under.size >= mostAtOnce) continue;
      this.under.add(page);
      try {
        const items = await this.fetch(page ? this.after[page - 1] : '', pageSize, this.at, signal);
        if (!signal.aborted) this.keep(page, items);
      } catch (error) {
        if (error.name !== 'AbortError') this.failed(error);
        return;
      } finally {
        this.under.delete(page);
      }
      this.draw();
    }
  }

  // keep keeps a page and forgets those that lie farthest from it.
  keep(page, items) {
    this.pages.set(page, items);
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page));
    for (const other of far.slice(0, Math.max(0, far.length - mostPages))) this.pages.delete(other);
  }

  // scale is how many pixels of rows one pixel of the scroll bar stands for.
  scale(height) {
    const all = this.count * height, view = this.grid.clientHeight;
    return all <= tallest ? 1 : (all - view) / (tallest - view);
  }

  draw() {
    const height = this.height, { scrollTop, clientHeight } = this.grid, scale = this.scale(height), top = scrollTop * scale;
    this.rows.style.height = `${Math.min(tallest, this.count * height)}px`;
    this.grid.setAttribute('aria-rowcount', this.count);
    const first = Math.max(0, Math.floor(top / height) - 8), last = Math.min(this.count, Math.ceil((top + clientHeight) / height) + 8);
    const rows = [], absent = new Set();
    for (let i = first; i < last; i++) {
      const item = this.item(i), row = item ? this.row(item, i) : h('div', { class: 'row waiting', role: 'row', id: `row-${i}`, 'aria-rowindex': i + 1 }, h('span', { class: 'name', role: 'gridcell' }, '…'));
      row.style.top = `${i * height - top + scrollTop}px`;
      rows.push(row);
      if (!item) absent.add(Math.floor(i / pageSize));
    }
    this.rows.replaceChildren(...rows);
    this.grid.toggleAttribute('aria-activedescendant', false);
    if (this.active >= first && this.active < last) this.grid.setAttribute('aria-activedescendant', `row-${this.active}`);
    this.need([...absent]);
  }

  row(item, i) {
    const directory = item.kind === 'directory', kind = directory ? 'dir' : kindOf(item.name), chosen = this.chosen.has(key(item));
    const click = event => {
      if (event.target.closest('a, button, input')) return;
      if (event.shiftKey || event.ctrlKey || event.metaKey) return this.pick(i, event.shiftKey);
      this.go(i);
      this.choose(item);
    };
    return h('div', { class: `row${this.fresh.has(item.name) ? ' new' : ''}${i === this.active ? ' active' : ''}`, role: 'row', id: `row-${i}`, 'aria-rowindex': i + 1, 'aria-selected': String(chosen), onclick: click, ondblclick: () => this.open(item) },
      h('span', { class: 'pick', role: 'gridcell' }, h('input', { type: 'checkbox', tabindex: '-1', checked: chosen, 'aria-label': `Select ${item.name}`, onclick: event => this.pick(i, event.shiftKey) })),
      h('span', { class: 'name', role: 'gridcell' }, h('i', { class: `icon ${kind}`, 'aria-hidden': 'true' }, directory ? '' : ending(item.name).slice(0, 3)),
        h('a', { href: item.href, tabindex: '-1', onclick: event => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); this.go(i); this.open(item); } } }, item.name),
        item.where ? h('small', {}, item.where) : null),
      h('span', { role: 'gridcell' }, directory ? '' : size(item.size)), h('span', { role: 'gridcell' }, when(item.time)),
      h('span', { role: 'gridcell' }, h('button', { class: 'more', tabindex: '-1', 'aria-label': `Details of ${item.name}`, onclick: () => { this.go(i); this.choose(item); } }, '⋯')));
  }

  // pick selects a row or takes that back; with a range, all from the last on.
  pick(i, range) {
    if (range && this.from >= 0) for (let j = Math.min(i, this.from); j <= Math.max(i, this.from); j++) this.set(j, true);
    else this.set(i, !this.chosen.has(key(this.item(i) ?? {})));
    this.from = i;
    this.active = i;
    this.grid.focus({ preventScroll: true }); // the box that had it is drawn anew
    this.draw();
    this.selected();
  }

  set(i, on) {
    const item = this.item(i);
    if (!item) return;
    if (on) this.chosen.set(key(item), item);
    else this.chosen.delete(key(item));
  }

  clear() { this.chosen.clear(); this.from = -1; this.draw(); this.selected(); }

  // go makes a row the active one and brings it into view.
  go(i) {
    this.active = Math.max(0, Math.min(this.count - 1, i));
    const height = this.height, scale = this.scale(height), top = this.active * height, view = this.grid.clientHeight, now = this.grid.scrollTop * scale;
    if (top < now) this.grid.scrollTop = top / scale;
    if (top + height > now + view) this.grid.scrollTop = Math.ceil((top + height - view) / scale);
    this.draw();
  }

  key(event) {
    const item = this.item(this.active), page = Math.max(1, Math.floor(this.grid.clientHeight / this.height) - 1);
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page, Home: 0, End: this.count - 1 }[event.key];
    if (to !== undefined && this.count) {
      if (event.shiftKey && this.active >= 0 && ['ArrowDown', 'ArrowUp'].includes(event.key)) { if (this.from < 0) this.set(this.active, true); this.from = this.active; this.set(Math.max(0, Math.min(this.count - 1, to)), true); this.selected(); }
      this.go(to);
    } else if (event.key === 'Enter' && item) this.open(item);
    else if (event.key === ' ' && item) this.pick(this.active, event.shiftKey);
    else if (event.key === 'i' && item) this.choose(item);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) { for (let i = 0; i < Math.min(this.count, 4096); i++) this.set(i, true); this.draw(); this.selected(); }
    else if (event.key === 'Escape' && this.chosen.size) { event.stopPropagation(); this.clear(); }
    else if (['Delete', 'F2', 'Backspace'].includes(event.key)) this.menu(event.key, item);
    else return;
    event.preventDefault();
  }
}
