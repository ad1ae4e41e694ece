// Pictures of the viewer for the documentation: `node pictures.mjs PROGRAM CHROMIUM FOLDER [NAME…]`.
import { join } from 'node:path';
import { Browser, startViewer } from './harness.mjs';

const [program, executable, folder, ...names] = process.argv.slice(2);

/** Some scenes take much longer than real time, ms. */
const PATIENCE = 600_000;

/** Scene, time in s, and what is done before the picture is taken. */
const PICTURES = [
  ['viewer-wall', 'dry-stone-wall', 1.1, async () => undefined],
  [
    'viewer-arch',
    'arch-25',
    0.5,
    async (page) => {
      await page.click('[data-tab=show]');
      await page.check('[data-show=contacts]');
      await page.check('[data-show=impulses]');
    },
  ],
  [
    'viewer-load',
    'pyramid-wall',
    0.5,
    async (page) => {
      await page.click('[data-tab=show]');
      await page.selectOption('#show-colour', 'load');
    },
  ],
  ['viewer-net', 'net-with-marbles', 1, async () => undefined],
  ['viewer-cloth', 'cloth-on-sphere', 1.2, async () => undefined],
  [
    'viewer-bridge',
    'rope-bridge',
    2,
    async (page) => {
      await page.click('[data-tab=show]');
      await page.check('[data-show=joints]');
      await page.click('[data-tab=law]');
    },
  ],
  ['viewer-tower', 'round-tower', 1.2, async () => undefined],
  ['viewer-race', 'heavy-on-light', 1.2, async () => undefined, ['pgs', 'newton']],
];

const browser = await Browser.launch(executable);
for (const [name, scene, time, prepare, racers] of PICTURES) {
  if (names.length > 0 && !names.includes(name)) continue;
  const viewer = await startViewer(program, scene, '--paused');
  const page = await browser.page(viewer.url, { width: 1280, height: 720 });
  if (racers) {
    await page.click('[data-tab=race]');
    await page.click('[data-do=race]');
    await page.waitForFunction(() => drystone.lanes() === 2);
    await page.click('[data-tab=law]');
  }
  await page.click('[data-do=play]');
  await page.waitForFunction((time) => drystone.time() > time, time, { timeout: PATIENCE });
  // Back to the very step, so that the picture is the same every time.
  await page.locator('.scrub').fill(String(time));
  await page.waitForFunction((time) => Math.abs(drystone.time() - time) < 0.01 && !drystone.playing(), time);
  await prepare(page);
  await page.mouse.move(640, 710);
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
  viewer.stop();
}
await browser.close();
