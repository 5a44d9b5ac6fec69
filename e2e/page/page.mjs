// Drives the page in a real browser against a real server:
//   node page.mjs ADDRESS CHROMIUM [SCREENSHOTS]
// It prints a line for each promise that holds, and ends with 1 at the first that
// does not.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { check, launch, rowOf, shooter } from './browser.mjs';

const [address, executablePath, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await launch(executablePath);
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true });
const page = await context.newPage();
page.setDefaultTimeout(15000);
const troubles = [];
page.on('pageerror', error => troubles.push(String(error)));
page.on('console', message => { if (message.type() === 'error' && !/status of (401|404)/.test(message.text())) troubles.push(message.text()); });
page.on('request', request => { if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) troubles.push(`it asks ${request.url()}`); });

const put = (path, body) => fetch(`${address}v1/files/${path}`, { method: 'PUT', body }).then(answer => { if (!answer.ok) throw new Error(`put ${path}: ${answer.status}`); });
const row = rowOf(page);
const shoot = shooter(shots, () => page);
const accessible = async where => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter(one => ['serious', 'critical'].includes(one.impact));
  check(`axe finds nothing serious ${where}${serious.map(one => `\n  ${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`).join('')}`, serious.length === 0);
};

try {
  await page.goto(address);
  await row('docs').waitFor();
  check('the first directory is listed', await page.locator('.row').count() > 3);
  await shoot('wide-light');
  await accessible('in the list');

  // Keyboard: down to the first row and into it.
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  check('the active row is told to screen readers', await page.getByRole('grid').getAttribute('aria-activedescendant') === 'row-0');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await row('guide.md').waitFor();
  check('Enter opens a directory', (await page.title()).startsWith('docs'));

  await row('guide.md').getByRole('link').click();
  await page.locator('.preview pre').waitFor();
  await page.locator('.preview .hl-section').first().waitFor();
  check('text is colored', (await page.locator('.preview .hl-section').first().textContent()).includes('# Guide'));
  check('text is shown', (await page.locator('.preview pre').textContent()).includes('second'));
  check('both versions are listed', await page.locator('.versions li').count() === 2);
  await shoot('details-light');
  await accessible('beside the details');
  await page.getByRole('button', { name: 'Diff' }).click();
  await page.locator('.diff ins').first().waitFor();
  check('two versions are shown side by side', (await page.locator('.diff del').first().textContent()).includes('first') && (await page.locator('.diff ins').first().textContent()).includes('second'));
  check('what differs within a line is marked', (await page.locator('.diff del mark').first().textContent()) === 'first');
  await shoot('diff-light');
  await accessible('in the comparison');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Restored as it was').waitFor();
  check('an old version is restored', (await (await fetch(`${address}v1/files/docs/guide.md`)).text()).includes('first'));
  await page.keyboard.press('Escape');

  // Uploads: chosen and dropped.
  await page.locator('#file').setInputFiles({ name: 'chosen.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen') });
  await row('chosen.txt').waitFor();
  check('a chosen file is uploaded and shows by itself', true);
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['dropped'], 'dropped.txt'));
    for (const name of ['dragenter', 'drop']) window.dispatchEvent(new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  });
  await row('dropped.txt').waitFor();
  check('a dropped file is uploaded', await (await fetch(`${address}v1/files/docs/dropped.txt`)).text() === 'dropped');
  await page.getByRole('button', { name: 'Close the list of uploads' }).click();

  // Rename, delete, another client's change.
  await row('chosen.txt').getByRole('button').click();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Rename' }).fill('renamed.txt');
  await page.locator('dialog').getByRole('button', { name: 'Rename' }).click();
  await row('renamed.txt').waitFor();
  check('a file is renamed', true);
  await page.keyboard.press('Escape');
  await row('dropped.txt').getByRole('button').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('dropped.txt').waitFor({ state: 'detached' });
  check('a file is deleted', true);
  await put('docs/from-another.txt', 'x');
  await row('from-another.txt').waitFor();
  check('the change of another client shows by itself', true);

  // Several at once.
  for (const name of ['one', 'two', 'three']) await put(`docs/several/${name}.txt`, name);
  await page.goto(`${address}#/docs/several`);
  await row('two.txt').waitFor();
  await page.getByRole('checkbox', { name: 'Select one.txt' }).check();
  await page.getByRole('checkbox', { name: 'Select two.txt' }).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor(); // in the order of names: one, three, two
  await page.getByRole('checkbox', { name: 'Select three.txt' }).uncheck();
  await page.getByText('2 selected').waitFor();
  await shoot('selected-light');
  await accessible('with a selection');
  const some = page.waitForEvent('download');
  await page.getByRole('toolbar').getByRole('button', { name: 'Download' }).click();
  const packed = readFileSync(await (await some).path()).toString('latin1');
  check('several are downloaded as one zip', packed.includes('one.txt') && packed.includes('two.txt') && !packed.includes('three.txt'));
  await page.getByRole('toolbar').getByRole('button', { name: 'Move' }).click();
  await page.getByRole('textbox', { name: 'Move 2 items' }).fill('/docs');
  await page.locator('dialog').getByRole('button', { name: 'Move' }).click();
  await row('two.txt').waitFor({ state: 'detached' });
  check('several are moved', (await fetch(`${address}v1/files/docs/one.txt`)).ok && await row('three.txt').count() === 1);
  await page.goto(`${address}#/docs`);
  await row('one.txt').waitFor();
  await page.getByRole('grid').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Space');
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('Shift+ArrowUp');
  await page.getByText('2 selected').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('2 selected').waitFor({ state: 'hidden' });
  check('rows are selected by keys', true);
  for (const name of ['one.txt', 'two.txt', 'several']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.keyboard.press('Delete');
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('several').waitFor({ state: 'detached' });
  const [commit] = await (await fetch(`${address}v1/commits/docs?limit=1`)).json();
  check('several are deleted in one commit', commit.changes.length === 4 && commit.changes.every(change => change.action === 'removed'));

  // A name is text, whatever it says.
  await put(`docs/${encodeURIComponent('<img src=x onerror=document.title=1>')}`, 'x');
  await row('<img src=x onerror=document.title=1>').waitFor();
  check('names are text', (await page.title()).startsWith('docs'));

  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('#commit li').first().waitFor();
  await shoot('time-light');
  await page.locator('#slider').focus();
  await page.keyboard.press('Home');
  await page.waitForURL(/at=/);
  await row('renamed.txt').waitFor({ state: 'detached' });
  check('the slider shows the past', await row('guide.md').count() === 1);
  check('the past cannot be changed', await page.getByRole('button', { name: 'Upload' }).isHidden());
  await page.getByRole('button', { name: 'Back to now' }).click();
  await row('renamed.txt').waitFor();
  await page.getByRole('button', { name: 'History' }).click();

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  check('a directory is downloaded', (await download).suggestedFilename() === 'docs.zip');

  await page.getByRole('link', { name: 'Home' }).click();
  await row('many').waitFor();
  await page.getByRole('searchbox').fill('GUIDE');
  await row('guide.md').waitFor();
  check('search finds by a part of the name', await page.locator('.row').count() === 1);
  await page.getByRole('searchbox').fill('');
  await row('many').getByRole('link').click();
  await row('0000').waitFor();
  check('few rows are in the document', await page.locator('.row').count() < 80);
  await page.getByRole('grid').evaluate(grid => { grid.scrollTop = grid.scrollHeight; });
  await row('0899').waitFor();
  check('the end of a large directory is reached by scrolling', await page.locator('.row').count() < 80);

  await page.goto(`${address}#/pictures`);
  await row('star.png').getByRole('link').click();
  await page.waitForFunction(() => document.querySelector('.preview img')?.naturalWidth > 0);
  check('an image is shown', true);
  await shoot('image-light');
  await page.getByRole('button', { name: 'Storage' }).click();
  await page.getByText('Stored after sharing').waitFor();
  await page.getByRole('button', { name: '/film.webm' }).waitFor();
  check('storage is told, and what is largest', await page.locator('.bars rect').count() > 4);
  check('growth over the revisions is drawn', (await page.locator('.growth svg').getAttribute('aria-label')).includes('grew from'));
  await shoot('storage-light');
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await shoot('storage-dark');
  await accessible('in the dark');
  for (const [name, width, height] of [['wide', 1280, 800], ['tablet', 820, 1100], ['phone', 390, 800]]) {
    await page.setViewportSize({ width, height });
    await page.goto(`${address}#/`);
    await row('docs').waitFor();
    await page.keyboard.press('Escape');
    check(`nothing runs over the edge at ${name} width`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await shoot(`${name}-dark`);
    await page.goto(`${address}#/docs`);
    await row('guide.md').getByRole('button').click();
    await page.locator('.preview pre').waitFor();
    await shoot(`${name}-details-dark`);
    await page.keyboard.press('Escape');
  }
  await accessible('on a phone');
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await page.goto(`${address}#/`);
  await row('docs').waitFor();
  await shoot('phone-light');
  check(`no error, no other host: ${troubles.join('; ')}`, troubles.length === 0);
} catch (error) {
  console.log(`${error.stack}\n${troubles.join('\n')}`);
  await shoot('failed');
  process.exitCode = 1;
} finally {
  await browser.close();
}
