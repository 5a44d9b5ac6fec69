// Drives the page of a server with users in a real browser:
//   node people.mjs ADDRESS CHROMIUM LINK-TO-A-FILE LINK-TO-A-DIRECTORY [SCREENSHOTS]
// The user ann has the password "correct horse", and guest, who may read /docs, too.
import { check, launch, rowOf, shooter } from './browser.mjs';

const [address, executablePath, file, directory, shots] = process.argv.slice(2);
const browser = await launch(executablePath);
let page;
const fresh = async where => {
  page = await (await browser.newContext({ viewport: { width: 1100, height: 760 } })).newPage();
  page.setDefaultTimeout(15000);
  await page.goto(where);
};
const row = name => rowOf(page)(name);
const shoot = shooter(shots, () => page);
const logIn = async (user, password) => {
  await page.getByLabel('Name', { exact: true }).fill(user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
};

try {
  await fresh(address);
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  check('nothing is shown to a stranger', await page.locator('.row').count() === 0);
  await shoot('login');
  await logIn('ann', 'wrong password');
  await page.getByText('no such user').waitFor();
  check('a wrong password is told', true);
  await logIn('ann', 'correct horse');
  await row('docs').waitFor();
  check('ann is in', await page.getByRole('button', { name: 'Upload' }).isVisible());
  await row('readme.txt').getByRole('button').click();
  await page.getByRole('button', { name: 'Share' }).click();
  const link = await page.getByRole('textbox', { name: 'Anyone with this link' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  check('a link is made on the page', (await (await fetch(`${link}v1/files/`)).text()) === 'Hello.\n');
  await page.reload();
  await row('docs').waitFor();
  check('a reload keeps her in', true);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  check('she is out again', true);
  await logIn('guest', 'correct horse');
  await row('guide.md').waitFor();
  check('a guest sees a directory as everything, and cannot upload', await page.getByRole('button', { name: 'Upload' }).isHidden());

  await fresh(directory);
  await row('guide.md').getByRole('link').click();
  await page.locator('.preview pre').waitFor();
  check('a link to a directory shows it at its revision', (await page.locator('.preview pre').textContent()).includes('first'));
  check('a link cannot change anything', await page.getByRole('button', { name: 'Delete' }).count() === 0);
  await fresh(file);
  await page.locator('.preview pre').waitFor();
  check('a link to a file shows it alone', (await page.getByRole('heading', { name: 'readme.txt' }).count()) === 1);
  await shoot('shared-file');
} catch (error) {
  console.log(error.stack);
  await shoot('failed');
  process.exitCode = 1;
} finally {
  await browser.close();
}
