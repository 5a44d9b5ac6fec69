// Small helpers over the document. Text becomes text nodes: nothing that is stored
// is ever read as markup.

export const $ = id => document.getElementById(id);

export function h(name, attributes = {}, ...children) {
  const svg = ['svg', 'rect', 'path'].includes(name);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child != null));
  return element;
}

let hide;
export function say(text) {
  const status = $('status');
  status.textContent = text;
  status.classList.add('on');
  clearTimeout(hide);
  hide = setTimeout(() => status.classList.remove('on'), 4000);
}

export function size(n) {
  if (n == null) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

export function when(time) {
  return time ? new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) : '';
}

// ask shows a dialog and returns what was typed, true, or null.
export function ask(question, { text, value, action = 'OK', danger = false } = {}) {
  const dialog = $('dialog');
  return new Promise(resolve => {
    const input = value == null ? null : h('input', { 'aria-label': question, value, spellcheck: 'false' });
    const form = h('form', { method: 'dialog' }, h('h2', { id: 'question' }, question), text ? h('p', {}, text) : null, input,
      h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => dialog.close('') }, 'Cancel'),
        h('button', { class: danger ? 'danger' : 'primary', value: 'yes' }, action)));
    dialog.replaceChildren(form);
    dialog.returnValue = '';
    dialog.onclose = () => resolve(dialog.returnValue === 'yes' ? (input ? input.value : true) : null);
    dialog.showModal();
    if (input) { input.focus(); input.setSelectionRange(0, value.includes('.') ? value.lastIndexOf('.') : value.length); }
  });
}

const kinds = {
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico'], audio: ['mp3', 'wav', 'flac', 'm4a', 'ogg', 'oga', 'opus'],
  video: ['mp4', 'm4v', 'webm', 'ogv'], pdf: ['pdf'],
  text: ['txt', 'md', 'csv', 'log', 'json', 'yaml', 'yml', 'toml', 'go', 'py', 'js', 'ts', 'c', 'h', 'rs', 'sh', 'css', 'html', 'xml', 'svg', 'dust', 'ini', 'conf', 'mod', 'sum', 'mjs', 'cjs', 'jsx', 'tsx', 'rb', 'java', 'kt', 'php', 'sql', 'lua', 'swift', 'cpp', 'hpp', 'cc', 'cs', 'diff', 'patch', 'tex', 'rst', 'bat', 'ps1', 'lock', 'env', 'gitignore', 'txtar'],
};
export const ending = name => (name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '');
export const kindOf = name => Object.keys(kinds).find(kind => kinds[kind].includes(ending(name))) ?? '';
