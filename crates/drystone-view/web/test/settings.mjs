// Settings that a scene can't have, threads, boxes, and hands on cloth.
import assert from 'node:assert/strict';
import { distance, startViewer } from './harness.mjs';

export function settingChecks({ browser, page, probe, until, press, open, pause, picture, program }) {
  return [
    [
      'a strategy that a scene can not have is refused with a reason',
      async () => {
        await open('heavy-chain', 0.05);
        await page.click('[data-tab=settings]');
        const names = await page.locator('#set-strategy option').allTextContents();
        assert.ok(names.includes('parallel') && names.includes('realtime'), `${names}`);
        await page.selectOption('#set-strategy', 'parallel');
        await page.waitForFunction(() => /joints/.test(document.querySelector('.toast')?.textContent ?? ''));
        await page.waitForFunction(() => document.querySelector('#set-strategy').value === 'realtime');
        assert.equal((await probe('settings')).strategy, 'realtime');
      },
    ],
    [
      'threads are those of the command line, and can be changed',
      async () => {
        const viewer = await startViewer(program, 'heavy-chain', '--paused', '--threads', '2');
        const other = await browser.page(viewer.url);
        assert.equal(await other.evaluate(() => drystone.settings().threads), 2);
        await other.click('[data-tab=settings]');
        await other.fill('#set-threads', '1');
        await other.keyboard.press('Enter');
        await other.waitForFunction(() => drystone.settings().threads === 1);
        await other.close();
        viewer.stop();
      },
    ],
    [
      'a solver races a strategy',
      async () => {
        await open('tower', 0.05);
        await page.click('[data-tab=race]');
        for (const name of ['pgs', 'newton', 'realtime']) {
          const box = page.locator('.checks label.check', { hasText: new RegExp(`^${name}$`) }).locator('input');
          if ((await box.isChecked()) !== (name !== 'newton')) await box.click();
        }
        await press('race');
        await until(() => drystone.lanes() === 2 && drystone.time(1) > 0.1);
        assert.deepEqual(await page.evaluate(() => drystone.strategies()), ['velocity', 'realtime']);
        await press('end-race');
        await until(() => drystone.lanes() === 1);
      },
    ],
    [
      'boxes of the broad phase are larger than what is in them',
      async () => {
        await open('tower', 0.2);
        await pause();
        await page.click('[data-tab=show]');
        await page.check('[data-show=boxes]');
        await picture();
        const { shape, box } = await page.evaluate(() => drystone.boxes(5));
        const margin = (await probe('settings')).margin;
        for (const axis of [0, 1, 2]) assert.ok(box[axis] >= shape[axis] + margin && box[axis] < shape[axis] + 0.05, `${box} around ${shape}`);
        await page.uncheck('[data-show=boxes]');
      },
    ],
    [
      'cloth is drawn on both sides and follows the mouse where it is held',
      async () => {
        await open('flag', 0.3);
        await pause();
        // In the middle of 26 × 16 nodes: at the edge a pixel may as well be the sky's.
        const node = await page.evaluate(() => drystone.objects().length - 1 - 7 * 26 - 13);
        const pixel = await probe('pixel', node);
        const { points } = await browser.colours(await picture(), [pixel, { x: 8, y: 100 }]);
        assert.ok(distance(points[0], points[1]) > 60, `no cloth at ${points[0]}`);
        const before = await probe('position', node);
        await press('play');
        await page.mouse.move(pixel.x, pixel.y);
        await page.mouse.down();
        for (const share of [0.5, 1]) await page.mouse.move(pixel.x, pixel.y - 120 * share);
        await until(([node, y]) => drystone.position(node)[1] > y + 0.1, node, before[1]);
        await page.mouse.up();
      },
    ],
  ];
}
