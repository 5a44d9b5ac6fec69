// The sidecar's status page in a real browser, while a download is held:
//   node sidecar.mjs ADDRESS CHROMIUM [SCREENSHOTS]
// It says "warm it" when the download may end.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { check, launch, shooter } from './browser.mjs';

const [address, executablePath, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await launch(executablePath);
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(20000);
const shoot = shooter(shots, () => page);
const troubles = [];
page.on('pageerror', error => troubles.push(String(error)));
page.on('console', message => { if (message.type() === 'error' && !message.text().includes('favicon')) troubles.push(message.text()); });

try {
  await page.goto(address);
  await page.locator('#downloads progress').first().waitFor();
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const [name, width] of [['wide', 1280], ['tablet', 820], ['phone', 390]]) {
      await page.setViewportSize({ width, height: 800 });
      check(`nothing runs over the edge, ${name} and ${colorScheme}`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await shoot(`sidecar-${name}-${colorScheme}`);
    }
    // The policy lets no script of others in: axe comes by the tools' own way.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    check(`axe finds nothing, ${colorScheme}${violations.map(one => `\n  ${one.id}: ${one.nodes[0].html}`).join('')}`, violations.length === 0);
  }
  await page.evaluate(() => { window.marked = true; });
  console.log('warm it');
  await page.getByText('None under way.').waitFor();
  check('it renews itself in place', await page.evaluate(() => window.marked) && await page.locator('#state').textContent() === 'warm');
  await page.getByRole('button', { name: 'Pause' }).click();
  check('it can be paused', await page.getByRole('button', { name: 'Go on' }).isVisible());
  await shoot('sidecar-warm');
  check(`no error: ${troubles.join('; ')}`, troubles.every(one => one.includes('404')));
} catch (error) {
  console.log(error.stack, troubles.join('\n'));
  await shoot('sidecar-failed');
  process.exitCode = 1;
} finally {
  await browser.close();
}
