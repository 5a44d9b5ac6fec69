// The rows of a directory. Only those in view are in the document, and pages are
// fetched when they come near, so that a million entries cost no more than a
// screen of them.
import { $, h, size, when, kindOf, ending } from './dom.js';

const pageSize = 500;

export class List {
  constructor({ fetch, open, choose, menu, failed }) {
    Object.assign(this, { fetch, open, choose, menu, failed, items: [], done: true, active: -1, fresh: new Set() });
    this.grid = $('list');
    this.rows = $('rows');
    this.grid.addEventListener('scroll', () => this.draw(), { passive: true });
    this.grid.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.grid);
  }

  get height() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')); }

  async load(keep) {
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    const many = keep ? Math.max(pageSize, Math.min(this.items.length, 5000)) : pageSize;
    const items = await this.fetch('', many, abort.signal);
    if (abort.signal.aborted) return;
    const name = this.items[this.active]?.name;
    this.items = items;
    this.done = items.length < many;
    this.active = keep ? items.findIndex(item => item.name === name) : -1;
    if (!keep) this.grid.scrollTop = 0;
    this.draw(true);
  }

  show(items) { this.abort?.abort(); Object.assign(this, { items, done: true, active: -1 }); this.grid.scrollTop = 0; this.draw(true); }

  async more() {
    if (this.done || this.fetching) return;
    this.fetching = true;
    const signal = this.abort.signal;
    try {
      const next = await this.fetch(this.items.at(-1).name, pageSize, signal);
      if (!signal.aborted) { this.items.push(...next); this.done = next.length < pageSize; }
    } catch (error) {
      if (error.name !== 'AbortError') this.failed(error);
    } finally {
      this.fetching = false;
    }
    this.draw();
  }

  draw() {
    const height = this.height, { scrollTop, clientHeight } = this.grid;
    this.rows.style.height = `${this.items.length * height}px`;
    this.grid.setAttribute('aria-rowcount', this.done ? this.items.length : -1);
    const first = Math.max(0, Math.floor(scrollTop / height) - 8);
    const last = Math.min(this.items.length, Math.ceil((scrollTop + clientHeight) / height) + 8);
    this.rows.replaceChildren(...this.items.slice(first, last).map((item, i) => this.row(item, first + i, height)));
    this.grid.toggleAttribute('aria-activedescendant', false);
    if (this.active >= first && this.active < last) this.grid.setAttribute('aria-activedescendant', `row-${this.active}`);
    if (last > this.items.length - 100) this.more();
  }

  row(item, i, height) {
    const directory = item.kind === 'directory', kind = directory ? 'dir' : kindOf(item.name);
    const row = h('div', { class: `row${this.fresh.has(item.name) ? ' new' : ''}`, role: 'row', id: `row-${i}`, 'aria-rowindex': i + 1, 'aria-selected': i === this.active,
      onclick: event => { if (!event.target.closest('a, button')) { this.select(i); this.choose(item); } }, ondblclick: () => this.open(item) },
    h('span', { class: 'name', role: 'gridcell' }, h('i', { class: `icon ${kind}`, 'aria-hidden': 'true' }, directory ? '' : ending(item.name).slice(0, 3)),
      h('a', { href: item.href, tabindex: '-1', onclick: event => { if (!event.ctrlKey && !event.metaKey) { event.preventDefault(); this.select(i); this.open(item); } } }, item.name),
      item.where ? h('small', {}, item.where) : null),
    h('span', { role: 'gridcell' }, directory ? '' : size(item.size)), h('span', { role: 'gridcell' }, when(item.time)),
    h('span', { role: 'gridcell' }, h('button', { class: 'more', tabindex: '-1', 'aria-label': `Details of ${item.name}`, onclick: () => { this.select(i); this.choose(item); } }, '⋯')));
    row.style.top = `${i * height}px`;
    return row;
  }

  select(i) {
    this.active = Math.max(0, Math.min(this.items.length - 1, i));
    const height = this.height, top = this.active * height;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    if (top + height > this.grid.scrollTop + this.grid.clientHeight) this.grid.scrollTop = top + height - this.grid.clientHeight;
    this.draw();
  }

  key(event) {
    const item = this.items[this.active], page = Math.max(1, Math.floor(this.grid.clientHeight / this.height) - 1);
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page, Home: 0, End: this.items.length - 1 }[event.key];
    if (to !== undefined && this.items.length) this.select(to);
    else if (event.key === 'Enter' && item) this.open(item);
    else if (event.key === ' ' && item) this.choose(item);
    else if (['Delete', 'F2', 'Backspace'].includes(event.key)) this.menu(event.key, item);
    else return;
    event.preventDefault();
  }
}
