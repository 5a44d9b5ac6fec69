// Uploads that go on after a break, in a real browser against a real server:
//   node uploads.mjs ADDRESS CHROMIUM [SCREENSHOTS]
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { check, launch, rowOf, shooter } from './browser.mjs';

const [address, executablePath, shots] = process.argv.slice(2);
const directory = mkdtempSync(`${tmpdir()}/stardust-uploads-`);
const browser = await launch(executablePath);
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
page.setDefaultTimeout(20000);
const row = rowOf(page), shoot = shooter(shots, () => page);

const content = randomBytes(9 << 20);
const file = `${directory}/large.bin`;
writeFileSync(file, content);
const stored = async path => createHash('sha256').update(Buffer.from(await (await fetch(`${address}v1/files/${path}`)).arrayBuffer())).digest('hex');
const wanted = createHash('sha256').update(content).digest('hex');
const list = async () => (await fetch(`${address}v1/uploads`)).json();
const progress = path => page.getByRole('progressbar', { name: `Upload of ${path}` });
const network = await context.newCDPSession(page);
await network.send('Network.enable');
const slow = async bytes => {
  await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytes });
};
const begun = path => page.waitForFunction(path => document.querySelector(`progress[aria-label="Upload of ${path}"]`)?.value > 0.15, path);

try {
  await page.goto(address);
  await row('docs').waitFor();
  await slow(4 << 20);
  await page.locator('#file').setInputFiles(file);
  await begun('large.bin');
  await page.reload();
  await page.getByText(/ of 9\.0 MiB arrived/).waitFor();
  const [left] = await list();
  check(`a reload in the middle keeps what had arrived (${left.offset} bytes)`, left.offset > 0 && left.offset < content.length);
  check('nothing of it is a file yet', (await fetch(`${address}v1/files/large.bin`)).status === 404);
  await shoot('upload-unfinished');

  // Another file of the name is told, and stores nothing.
  writeFileSync(`${directory}/other.bin`, randomBytes(8 << 20));
  let chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose the file again to continue large.bin' }).click();
  await (await chooser).setFiles(`${directory}/other.bin`);
  await page.getByText('is another file').waitFor();
  check('another file does not continue it', (await list()).length === 1);

  await slow(-1);
  let sent = 0;
  page.on('request', request => { if (request.method() === 'PATCH') sent = Number(request.headers()['upload-offset']); });
  chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose the file again to continue large.bin' }).click();
  await (await chooser).setFiles(file);
  await row('large.bin').waitFor();
  check('the same file goes on where it was', sent >= left.offset && await stored('large.bin') === wanted);
  check('nothing is left unfinished', (await list()).length === 0);

  // A network that is away for a while.
  await slow(4 << 20);
  await page.locator('#file').setInputFiles({ name: 'away.bin', mimeType: 'application/octet-stream', buffer: content });
  await begun('away.bin');
  await context.setOffline(true);
  await page.waitForTimeout(700);
  await slow(-1);
  await context.setOffline(false);
  await row('away.bin').waitFor();
  check('an upload goes on by itself after the network was away', await stored('away.bin') === wanted);

  await slow(4 << 20);
  await page.locator('#file').setInputFiles({ name: 'canceled.bin', mimeType: 'application/octet-stream', buffer: content });
  await begun('canceled.bin');
  await page.getByRole('button', { name: 'Cancel canceled.bin' }).click();
  await page.getByText('canceled: nothing was stored').waitFor();
  for (const end = Date.now() + 5000; (await list()).length && Date.now() < end;);
  check('canceling forgets what had arrived', (await list()).length === 0 && (await fetch(`${address}v1/files/canceled.bin`)).status === 404);
  check('its progress is told', await progress('canceled.bin').count() === 1);
} catch (error) {
  console.log(error.stack);
  await shoot('failed');
  process.exitCode = 1;
} finally {
  await browser.close();
  rmSync(directory, { recursive: true });
}
