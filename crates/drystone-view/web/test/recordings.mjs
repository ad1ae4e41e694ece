// Recordings in the page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distance, startViewer } from './harness.mjs';

export function recordingChecks({ browser, program, folder }) {
  const file = join(folder, 'arch.dry');
  const cut = join(folder, 'cut.dry');
  return [
    [
      'a recording plays, is scrubbed before it was played, and says what it can not do',
      async () => {
        execFileSync(program, ['run', 'arch-7', '--seconds', '1', '--record', file]);
        const viewer = await startViewer(program, file, '--paused');
        const page = await browser.page(viewer.url);
        assert.match(await page.textContent('.title'), /arch\.dry.*recording/);
        // The end was never played: it is there all the same, with the certificate of every frame.
        const facts = () => page.evaluate(() => ({ time: drystone.time(), rows: drystone.rows(), contacts: drystone.contacts(), top: drystone.position(4) }));
        assert.equal((await facts()).rows, 61);
        await page.locator('.scrub').fill('0.75');
        await page.waitForFunction(() => Math.abs(drystone.time() - 0.75) < 0.01);
        const late = await facts();
        assert.ok(late.contacts >= 14 && late.top[1] > 1.9, JSON.stringify(late));
        await page.click('[data-do=step]');
        await page.waitForFunction((time) => Math.abs(drystone.time() - time - 1 / 60) < 1e-3, late.time);
        await page.click('[data-do=restart]');
        await page.waitForFunction(() => drystone.time() === 0);
        await page.click('[data-do=play]');
        await page.waitForFunction(() => drystone.time() >= 1 && !drystone.playing());
        await page.waitForSelector('.badge.holds, .badge.fails');
        assert.equal(await page.locator('.plot:visible').count(), 3);
        for (const tab of ['settings', 'race', 'matrix']) {
          await page.click(`[data-tab=${tab}]`);
          assert.match(await page.textContent('[data-recorded]:visible'), /recording/);
        }
        assert.ok(await page.isDisabled('[data-do=throw]'));
        await page.click('[data-tab=show]');
        await page.check('[data-show=contacts]');
        const contact = await page.evaluate(() => drystone.contactPixel(0));
        await page.mouse.click(contact.x, contact.y);
        assert.match(await page.textContent('.inspector .name'), / on /);
        const stone = await page.evaluate(() => drystone.pixel(4));
        const { points } = await browser.colours(await page.screenshot(), [stone, { x: stone.x, y: stone.y + 90 }]);
        assert.ok(distance(points[0], points[1]) > 40, `no stone: ${points}`);
        await page.close();
        viewer.stop();
      },
    ],
    [
      'a recording that is cut plays its good frames and says so',
      async () => {
        const whole = readFileSync(file);
        writeFileSync(cut, whole.subarray(0, Math.floor(0.6 * whole.length)));
        const viewer = await startViewer(program, cut, '--paused');
        const page = await browser.page(viewer.url);
        await page.waitForSelector('.toast:visible');
        assert.match(await page.textContent('.toast'), /of 61 frames/);
        const rows = await page.evaluate(() => drystone.rows());
        assert.ok(rows > 10 && rows < 60, `${rows} frames`);
        await page.locator('.scrub').fill('9');
        await page.waitForFunction((rows) => Math.abs(drystone.time() - (rows - 1) / 60) < 1e-3, rows);
        await page.close();
        viewer.stop();
      },
    ],
  ];
}
