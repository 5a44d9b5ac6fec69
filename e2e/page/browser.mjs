// What the scripts here share: a real Chromium, and words for promises.
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const launch = executablePath => chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });

export const check = (promise, holds) => { if (!holds) throw new Error(`not so: ${promise}`); console.log(`ok ${promise}`); };

export const rowOf = page => name => page.locator('.row', { has: page.getByRole('link', { name, exact: true }) });

export const shooter = (directory, page) => async name => {
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page().screenshot({ path: `${directory}/${name}.png` });
};
