// Islands, sleep and joints in the page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { distance } from './harness.mjs';

export function tieChecks({ browser, page, probe, until, press, open, pause, picture, program, folder }) {
  return [
    [
      'joints say what they carry: the last one of a chain the weight of the ball',
      async () => {
        await open('heavy-chain', 0.1);
        await pause();
        await page.click('[data-tab=show]');
        await page.check('[data-show=joints]');
        const joints = await probe('joints');
        assert.equal(joints, 41);
        const bare = await picture();
        const last = await probe('joint', joints - 1);
        await page.mouse.click(last.x, last.y);
        await page.waitForFunction(() => /ball/.test(document.querySelector('.inspector')?.textContent ?? ''));
        const text = await page.textContent('.inspector');
        assert.match(text, /weight to link 40/);
        assert.match(text, /force.*N.*gap.*m.*holds/s);
        // The dot of the joint is drawn over the chain, in its own colour.
        const { points } = await browser.colours(bare, [last]);
        assert.ok(distance(points[0], [75, 63, 143]) < 60, `the joint is ${points[0]}`);
        assert.ok(last.gap < 1e-3 && last.gap >= 0, `a gap of ${last.gap} m`);
        await page.keyboard.press('Escape');
        await page.uncheck('[data-show=joints]');
      },
    ],
    [
      'the gap of joints is plotted with the certificate',
      async () => {
        await page.click('[data-tab=law]');
        await page.waitForFunction(() => /joint gap/.test(document.querySelector('.sheet .facts')?.textContent ?? ''));
        assert.equal(await page.locator('.plot:visible').count(), 5);
        await open('two-particles', 0.05);
        await page.waitForFunction(() => !/joint gap/.test(document.querySelector('.sheet .facts')?.textContent ?? ''));
      },
    ],
    [
      'islands have a colour each, and what sleeps grows pale',
      async () => {
        await open('ten-towers', 0.1);
        await page.click('[data-tab=settings]');
        await page.selectOption('#set-strategy', 'realtime');
        await until(() => drystone.settings().strategy === 'realtime');
        await page.click('[data-tab=show]');
        await page.selectOption('#show-colour', 'island');
        await until(() => drystone.sleepers() > 0);
        await pause();
        const names = await probe('objects');
        const islands = new Set();
        for (let k = 0; k < names.length; k += 1) islands.add(await probe('island', k));
        // Ten towers that do not touch, and the floor, which belongs to none.
        assert.equal(islands.size, 11, `${islands.size} islands`);
        const asleep = await probe('firstSleeper');
        const { points } = await browser.colours(await picture(), [await probe('pixel', asleep)]);
        const spread = Math.max(...points[0]) - Math.min(...points[0]);
        assert.ok(spread < 70, `a sleeper is ${points[0]}`);
        await page.selectOption('#show-colour', 'material');
      },
    ],
    [
      'a replay shows joints and islands too',
      async () => {
        const file = join(folder, 'chain.html');
        execFileSync(program, ['run', 'heavy-chain', '--seconds', '0.5', '--out', file]);
        const replay = await browser.page(`file://${file}`);
        await replay.waitForFunction(() => drystone.time() > 0.4);
        const facts = await replay.evaluate(() => ({ joints: drystone.joints(), last: drystone.joint(40), islands: [1, 20, 41].map((k) => drystone.island(k)) }));
        assert.equal(facts.joints, 41);
        assert.deepEqual(facts.islands, [1, 1, 1]);
        assert.ok(facts.last.force > 100 && facts.last.gap < 1e-3, JSON.stringify(facts.last));
        await replay.close();
      },
    ],
  ];
}
