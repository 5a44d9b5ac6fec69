// A directory of a million entries in a real browser: node million.mjs ADDRESS CHROMIUM
// It says how long things take, and what they cost.
import { check, launch, rowOf } from './browser.mjs';

const [address, executablePath] = process.argv.slice(2);
const browser = await launch(executablePath);
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(60000);
const row = rowOf(page);
let requests = 0, under = 0, most = 0;
const ours = request => /v1\/(files|outline)/.test(request.url());
page.on('request', request => { if (ours(request)) { requests++; most = Math.max(most, ++under); } });
page.on('requestfinished', request => { if (ours(request)) under--; });
page.on('requestfailed', request => { if (ours(request)) under--; });
const took = async (what, action, bound) => {
  const start = Date.now(), before = requests;
  await action();
  const ms = Date.now() - start;
  check(`${what}: ${ms} ms, ${requests - before} requests`, ms < bound);
};
const grid = page.getByRole('grid'), scroll = part => grid.evaluate((grid, part) => { grid.scrollTop = part * grid.scrollHeight; }, part);
const heap = async () => {
  const tools = await page.context().newCDPSession(page);
  await tools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await tools.send('Runtime.getHeapUsage');
  await tools.detach();
  return usedSize / (1 << 20);
};

try {
  await page.goto(address);
  await row('million').waitFor();
  await took('a million entries open', async () => { await row('million').getByRole('link').click(); await row('n0000000').waitFor(); }, 30000);
  await took('they are counted', () => page.waitForFunction(() => document.getElementById('list').getAttribute('aria-rowcount') === '1000000'), 30000);
  check('the list knows how many there are', await grid.getAttribute('aria-rowcount') === '1000000');
  await took('its end', async () => { await scroll(1); await row('n0999999').waitFor(); }, 5000);
  await took('its middle', async () => { await scroll(0.5); await page.waitForFunction(() => document.querySelector('.row:not(.waiting) .name')?.textContent.startsWith('n')); }, 5000);
  await took('the last by a key', async () => { await grid.focus(); await page.keyboard.press('End'); await row('n0999999').waitFor(); }, 5000);
  const frames = await grid.evaluate(async grid => {
    const times = [];
    let last = performance.now();
    for (let i = 0; i < 120; i++) {
      grid.scrollTop = grid.scrollHeight * ((i * 37 % 120) / 120);
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  check(`120 jumps of the scroll bar: median ${frames[60].toFixed(1)} ms, worst ${frames.at(-1).toFixed(1)} ms a frame`, frames[60] < 100);
  await page.waitForTimeout(1000);
  await took('it settles', () => page.waitForFunction(() => !document.querySelector('.row.waiting')), 10000);
  check(`few rows are in the document: ${await page.locator('.row').count()}`, await page.locator('.row').count() < 80);
  check(`two requests at a time at most: ${most}`, most <= 3); // and one for the outline
  const used = await heap();
  check(`its heap is ${used.toFixed(1)} MiB`, used < 64);
  check(`${requests} requests in all`, requests < 150);
  await took("another client's change shows", async () => {
    await scroll(0);
    await row('n0000000').waitFor();
    const answer = await fetch(`${address}v1/files/million/a-new-one`, { method: 'PUT', body: 'x' });
    check('it is written', answer.ok);
    await row('a-new-one').waitFor();
  }, 30000);
} catch (error) {
  console.log(error.stack);
  process.exitCode = 1;
} finally {
  await browser.close();
}
