// The page in a real browser: `node browser.mjs PROGRAM CHROMIUM FOLDER`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, distance, run, startViewer } from './harness.mjs';
import { recordingChecks } from './recordings.mjs';
import { settingChecks } from './settings.mjs';
import { tieChecks } from './ties.mjs';

// Further words choose the checks whose names hold them.
const [program, executable, folder, ...words] = process.argv.slice(2);
const browser = await Browser.launch(executable);
const viewer = await startViewer(program, 'two-particles', '--paused');
const page = await browser.page(viewer.url);

const ask = (name, ...args) => page.evaluate(([name, args]) => window.drystone[name](...args), [name, args]);
// Pixels are those of the last picture: what has arrived since is drawn first.
const probe = async (name, ...args) => {
  if (name === 'pixel') await redrawn();
  return ask(name, ...args);
};
const until = (test, ...args) => page.waitForFunction(test, args);
const press = (name) => page.click(`[data-do=${name}]`);

async function open(scene, seconds = 0) {
  await press('gallery');
  await page.click(`[data-scene="${scene}"]`);
  await until(([scene, seconds]) => drystone.scene() === scene && drystone.time() >= seconds, scene, seconds);
}

async function pause() {
  if (await probe('playing')) await press('play');
  await until(() => !drystone.playing());
  // Frames that are still on their way arrive.
  for (let before = -1; before !== (await probe('step')); ) {
    before = await probe('step');
    await page.waitForTimeout(400);
  }
}

/** Waits until what has arrived is drawn, however long that takes. */
async function redrawn() {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise((next) => requestAnimationFrame(next));
  });
}

/** A picture of a state in which nothing moves any more. */
async function picture() {
  await redrawn();
  return page.screenshot();
}

const checks = [
  [
    'the gallery lists scenes with their pictures',
    async () => {
      await press('gallery');
      assert.ok((await page.locator('.card').count()) >= 30);
      await page.waitForFunction(() => [...document.querySelectorAll('.card img')].filter((image) => image.complete && image.naturalWidth === 320).length >= 5);
      await page.fill('.gallery input', 'dominoes');
      assert.equal(await page.locator('.card').count(), 1);
      await page.fill('.gallery input', '');
      await page.keyboard.press('Escape');
    },
  ],
  [
    'a scene of the gallery plays',
    async () => {
      await open('bouncing-ball', 0.2);
      assert.ok((await probe('step')) >= 200);
      assert.ok(await probe('playing'));
    },
  ],
  [
    'a paused scene stands still, and a step is one step',
    async () => {
      await pause();
      const before = await probe('step');
      await page.waitForTimeout(300);
      assert.equal(await probe('step'), before);
      await press('step');
      await until(([step]) => drystone.step() === step, before + 1);
      await press('back');
      await until(([step]) => drystone.step() === step, before);
    },
  ],
  [
    'keys do what buttons do',
    async () => {
      const before = await probe('step');
      await page.locator('.view > canvas').focus();
      await page.keyboard.press('.');
      await until(([step]) => drystone.step() === step, before + 1);
      await page.keyboard.press(' ');
      await until(() => drystone.playing());
      await page.keyboard.press(' ');
      await until(() => !drystone.playing());
    },
  ],
  [
    'scrubbing shows the past: the ball is where it fell',
    async () => {
      await page.locator('.scrub').fill('0.1');
      await until(() => Math.abs(drystone.time() - 0.1) < 0.002);
      const [, y] = await probe('position', 1);
      // From 1.1 m, ½ g t² down; symplectic Euler adds ½ g t dt.
      const expected = 1.1 - 0.5 * 9.81 * 0.1 * (0.1 + 0.001);
      assert.ok(Math.abs(y - expected) < 1e-4, `${y}, not ${expected}`);
    },
  ],
  [
    'the ball is drawn where it is, in its colour',
    async () => {
      const ball = await probe('pixel', 1);
      const beside = { x: ball.x + 110, y: ball.y };
      const { points, different } = await browser.colours(await picture(), [{ x: ball.x, y: ball.y + 9 }, beside]);
      assert.ok(distance(points[0], [207, 82, 38]) < 40, `the ball is ${points[0]}`);
      assert.ok(distance(points[1], [248, 245, 239]) < 12, `the paper is ${points[1]}`);
      assert.ok(different > 20, 'the picture is blank');
    },
  ],
  [
    'pointing at the ball names it, a click keeps it',
    async () => {
      const ball = await probe('pixel', 1);
      await page.mouse.move(ball.x, ball.y + 8);
      await page.waitForFunction(() => document.querySelector('.inspector .name')?.textContent === 'ball');
      await page.mouse.click(ball.x, ball.y + 8);
      await page.mouse.move(20, 300);
      assert.equal(await page.textContent('.inspector .name'), 'ball');
      assert.match(await page.textContent('.inspector'), /mass.*kg/);
      await page.keyboard.press('Escape');
    },
  ],
  [
    'gravity changes at once: without it the ball flies on straight',
    async () => {
      await press('restart');
      await page.click('[data-tab=settings]');
      await page.click('text=none');
      await until(() => drystone.settings().gravity[1] === 0);
      await press('play');
      await until(() => drystone.time() > 0.3);
      await pause();
      const [, y] = await probe('position', 1);
      assert.ok(Math.abs(y - 1.1) < 0.2 && (await probe('time')) > 0.3, `it fell to ${y}`);
    },
  ],
  [
    'time step and solver change while it runs',
    async () => {
      await open('arch-7', 0.05);
      await page.click('[data-tab=settings]');
      await page.selectOption('#set-dt', { label: '1/120 s' });
      await until(() => Math.abs(drystone.settings().dt - 1 / 120) < 1e-9);
      await page.selectOption('#set-solver', 'newton');
      await until(() => drystone.settings().solver === 'newton');
      const before = await probe('time');
      await until(([time]) => drystone.time() > time + 0.05, before);
      await page.waitForFunction(() => document.querySelector('.badge.holds'));
    },
  ],
  [
    'the strategy changes while it runs, and time goes on',
    async () => {
      const before = await probe('time');
      await page.selectOption('#set-strategy', 'realtime');
      await until(() => drystone.settings().strategy === 'realtime');
      await page.fill('#set-substeps', '2');
      await page.keyboard.press('Enter');
      await until(() => drystone.settings().substeps === 2);
      await until(([time]) => drystone.time() > time + 0.1, before);
      // The arch still stands: its highest stone is where it was.
      const [, y] = await probe('position', 4);
      assert.ok(y > 1.9, `the keystone is at ${y}`);
    },
  ],
  [
    'a stone that is dragged follows the mouse',
    async () => {
      await open('sliding-cube', 0.3);
      const before = await probe('position', 1);
      const cube = await probe('pixel', 1);
      await page.mouse.move(cube.x, cube.y);
      await page.mouse.down();
      for (const far of [0.5, 1]) await page.mouse.move(cube.x - 90 * far, cube.y - 70 * far);
      await until(([x]) => drystone.position(1)[0] < x - 0.02, before[0]);
      await page.mouse.up();
    },
  ],
  [
    'a thrown ball joins the scene',
    async () => {
      const before = (await probe('objects')).length;
      await page.locator('.view > canvas').focus();
      await page.keyboard.press('b');
      await until(([count]) => drystone.objects().length === count + 1, before);
      assert.ok((await probe('objects')).at(-1).startsWith('thrown'));
    },
  ],
  [
    'a contact can be chosen and says what it carries',
    async () => {
      await open('incline-holds', 0.3);
      await pause();
      await page.click('[data-tab=show]');
      await page.check('[data-show=contacts]');
      await page.check('[data-show=impulses]');
      await page.check('[data-show=cones]');
      const contact = await probe('contactPixel', 0);
      await page.mouse.click(contact.x, contact.y);
      assert.equal(await page.textContent('.inspector .name'), 'block on slope');
      // tan = μ: the cone is used up.
      assert.match(await page.textContent('.inspector'), /(99|100) % of μ = 0.5/);
      await page.keyboard.press('Escape');
      await page.uncheck('[data-show=contacts]');
      await page.uncheck('[data-show=impulses]');
      await page.uncheck('[data-show=cones]');
    },
  ],
  [
    'the worst contact is one click away',
    async () => {
      await open('tower', 0.3);
      await page.click('[data-tab=law]');
      await page.click('[data-do=worst]');
      await page.waitForFunction(() => / on /.test(document.querySelector('.inspector .name')?.textContent ?? ''));
      await until(() => !drystone.playing());
      const plots = await page.locator('.plot:visible canvas').evaluateAll((all) => all.map((canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size));
      assert.ok(plots.length === 4 && plots.every((colours) => colours > 3), `plots with ${plots} shades`);
      await page.keyboard.press('Escape');
      await page.click('[data-tab=show]');
      await page.uncheck('[data-show=contacts]');
    },
  ],
  [
    'objects are drawn in space, lit and where they are',
    async () => {
      await page.keyboard.press('h');
      const box = await probe('pixel', 5);
      const { points, different } = await browser.colours(await picture(), [box, { x: box.x - 200, y: box.y }]);
      assert.ok(distance(points[0], points[1]) > 60, `box ${points[0]}, behind it ${points[1]}`);
      assert.ok(different > 300, 'no light, no shade');
    },
  ],
  [
    'a race runs side by side in step, each with its certificate',
    async () => {
      await open('heavy-on-light', 0.02);
      await page.click('[data-tab=race]');
      await press('race');
      await until(() => drystone.lanes() === 2 && drystone.time(1) > 0.1);
      await pause();
      await page.waitForTimeout(300);
      assert.equal(await probe('step', 0), await probe('step', 1));
      await page.click('[data-tab=law]');
      assert.equal(await page.locator('.verdict').count(), 2);
      const [left, right] = [await probe('pixel', 8, 0), await probe('pixel', 8, 1)];
      assert.ok(right.x > left.x + 120, 'the panes are side by side');
      const { points } = await browser.colours(await picture(), [left, right, { x: left.x, y: left.y - 110 }]);
      for (const colour of points.slice(0, 2)) assert.ok(distance(colour, points[2]) > 60, `nothing at ${colour}`);
      await page.click('[data-tab=race]');
      await press('end-race');
      await until(() => drystone.lanes() === 1);
    },
  ],
  [
    'the matrix is drawn and its blocks light contacts up',
    async () => {
      await open('arch-7', 0.1);
      await page.click('[data-tab=matrix]');
      await press('matrix');
      await page.waitForSelector('canvas.matrix:visible');
      await page.hover('canvas.matrix', { position: { x: 6, y: 6 } });
      assert.equal((await probe('lit')).length, 1);
      assert.match(await page.textContent('.told'), /1\/kg/);
      const shades = await page.locator('canvas.matrix').evaluate((canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size);
      assert.ok(shades >= 3, `${shades} shades`);
      await page.mouse.move(300, 300);
    },
  ],
  [
    'a lesson compares what is measured with what is expected',
    async () => {
      await open('cradle-one', 0.8);
      await page.click('[data-tab=learn]');
      await page.waitForFunction(() => Math.abs(Number(document.querySelector('.now')?.textContent) - 1) < 0.01);
      await page.click('text=next →');
      await until(() => drystone.scene() === 'rocking-block');
    },
  ],
  [
    'it can be read on a phone and in the dark',
    async () => {
      const small = await browser.page(viewer.url, { width: 390, height: 844 }, 'dark');
      const overflow = await small.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!overflow, 'the page is wider than the screen');
      const view = await small.locator('.view > canvas').boundingBox();
      assert.ok(view.height > 200 && view.width > 380, JSON.stringify(view));
      const { points } = await browser.colours(await small.screenshot(), [{ x: 4, y: 840 }]);
      assert.ok(points[0].every((value) => value < 60), `not dark: ${points[0]}`);
      await small.close();
    },
  ],
  [
    'a page without the token says what to do',
    async () => {
      const stranger = await browser.chromium.newPage();
      await stranger.goto(viewer.url.split('#')[0]);
      await stranger.waitForSelector('.toast:visible');
      assert.match(await stranger.textContent('.toast'), /drystone view/);
      await stranger.close();
    },
  ],
  [
    'a replay plays from the disk, with scrubbing, contacts and plots',
    async () => {
      const file = join(folder, 'replay.html');
      execFileSync(program, ['run', 'arch-7', '--seconds', '1', '--out', file]);
      assert.ok(statSync(file).size < 3 << 20);
      const replay = await browser.page(`file://${file}`);
      await replay.waitForFunction(() => drystone.time() > 0.1);
      await replay.locator('.scrub').fill('0.5');
      await replay.waitForFunction(() => Math.abs(drystone.time() - 0.5) < 0.02 && !drystone.playing());
      const facts = await replay.evaluate(() => ({ contacts: drystone.contacts(), rows: drystone.rows(), top: drystone.position(4) }));
      assert.ok(facts.contacts >= 14 && facts.rows === 240, JSON.stringify(facts));
      await replay.waitForSelector('.badge.holds');
      const stone = await replay.evaluate(() => drystone.pixel(4));
      const { points } = await browser.colours(await replay.screenshot(), [stone, { x: stone.x, y: stone.y + 90 }]);
      assert.ok(distance(points[0], points[1]) > 40, `no stone: ${points}`);
      await replay.close();
    },
  ],
];

const tools = { browser, page, probe, until, press, open, pause, picture, program, folder };
checks.push(...tieChecks(tools), ...recordingChecks(tools), ...settingChecks(tools));
const chosen = words.length > 0 ? checks.filter(([name]) => words.some((word) => name.includes(word))) : checks;
const failed = await run(chosen, () => page.mouse.up());
viewer.stop();
try {
  await browser.close();
} catch (error) {
  console.log(`FAILED  ${error.message}`);
  process.exit(1);
}
process.exit(failed > 0 ? 1 : 0);
