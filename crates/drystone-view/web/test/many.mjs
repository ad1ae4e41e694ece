// What ten thousand bodies cost the page: `node many.mjs PROGRAM CHROMIUM [BODIES]`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser, startViewer } from './harness.mjs';

const [program, executable, bodies = '10000'] = process.argv.slice(2);
const kinds = ['shape.box.size = [0.4, 0.25, 0.3]', 'shape.ball.radius = 0.2', 'shape.capsule = { length = 0.3, radius = 0.12 }'];
const count = Math.round(Number(bodies) / kinds.length);
const side = Math.cbrt(count);
const grid = (shape, k) => `
[[bodies]]
name = "body ${k}"
${shape}
position = [${0.2 * k}, ${0.5 * side + 1}, 0]
repeat.random = { count = ${count}, region = [${1.2 * side}, ${0.9 * side}, ${1.2 * side}], turned = true, seed = ${k + 1} }
`;
const folder = mkdtempSync(join(tmpdir(), 'drystone-'));
const scene = join(folder, 'many.toml');
writeFileSync(scene, `dimension = 3\nstrategy = "realtime"\n[[bodies]]\nname = "floor"\nkind = "fixed"\nshape.half_space.normal = [0, 1, 0]\n${kinds.map(grid).join('')}`);
const browser = await Browser.launch(executable);
const viewer = await startViewer(program, scene, '--paused');
const page = await browser.page(viewer.url, { width: 640, height: 360 });
await page.evaluate(() => drystone.cost());
const found = await page.evaluate(() => ({ bodies: drystone.objects().length, place: drystone.cost(), drawing: drystone.drawing() }));
console.log(`${found.bodies} bodies: ${found.place.toFixed(2)} ms of script to place them, ${found.drawing.calls} draw calls, ${found.drawing.triangles} triangles`);
await page.close();
viewer.stop();
await browser.close();
rmSync(folder, { recursive: true });
