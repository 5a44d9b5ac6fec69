// What a file looks like.
import { h, size, kindOf, ending } from './dom.js';
import * as api from './api.js';

export const mostText = 256 << 10;
const mostColored = 128 << 10;

// What the highlighter calls what a name ends in, where that is another word.
const languages = { h: 'c', yml: 'yaml', toml: 'ini', conf: 'ini', html: 'xml', svg: 'xml', sh: 'bash', txt: '', log: '', csv: '', dust: 'json', mod: 'go', mjs: 'javascript', htm: 'xml', hpp: 'cpp', cc: 'cpp' };

// colored returns a text as nodes, with spans about its words. The highlighter's own
// answer is markup, which a page that shows what anybody stored must not take.
async function colored(text, name) {
  const language = languages[ending(name)] ?? ending(name);
  if (!language || text.length > mostColored) return [text];
  const { default: highlighter } = await import('./vendor/highlight.js');
  if (!highlighter.getLanguage(language)) return [text];
  const node = tree => (typeof tree === 'string' ? tree : tree.scope ? h('span', { class: `hl-${tree.scope.split(/[.:]/)[0]}` }, ...tree.children.map(node)) : tree.children.map(node));
  return [node(highlighter.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode)].flat(Infinity);
}

export function fill(preview, path, at, item) {
  const url = api.address('files', path, { at, inline: true }), kind = kindOf(item.name || path);
  const failed = () => preview.replaceChildren(h('p', {}, 'It cannot be shown.'));
  if (kind === 'image') preview.replaceChildren(h('img', { src: url, alt: `Preview of ${item.name}`, onerror: failed }));
  else if (kind === 'audio' || kind === 'video') preview.replaceChildren(h(kind, { src: url, controls: true, preload: 'metadata', 'aria-label': `Preview of ${item.name}`, onerror: failed }));
  else if (kind === 'pdf') preview.replaceChildren(h('iframe', { src: url, title: `Preview of ${item.name}` }));
  else if (kind === 'text' || item.size <= 64 << 10) {
    api.text(path, at, mostText).then(async text => {
      if (text.includes('\0') || text.includes('\ufffd')) return preview.replaceChildren(h('p', {}, 'There is no preview of this kind of file.'));
      const shown = h('pre', { tabindex: '0', 'aria-label': 'Content' }, text || ' ');
      preview.replaceChildren(shown, ...(item.size > mostText ? [h('p', {}, `The first ${size(mostText)} of ${size(item.size)}.`)] : []));
      if (text) shown.replaceChildren(...await colored(text, item.name || path));
    }).catch(failed);
  } else preview.replaceChildren(h('p', {}, 'There is no preview of this kind of file.'));
}
