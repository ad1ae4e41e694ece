// Starts the program and a headless Chromium, and reads pictures back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];

/** Time that anything may take, ms: machines without a GPU draw slowly. */
export const PATIENCE = 45_000;

/** Small, because a machine without a GPU draws every pixel itself. */
const SIZE = { width: 900, height: 540 };

/** Programs that were started: whatever ends the checks ends them too. */
const started = [];
process.on('exit', () => started.forEach((child) => child.kill()));

/** Starts `drystone view` and gives its address. */
export async function startViewer(program, ...args) {
  const child = spawn(program, ['view', ...args, '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      if (text.includes('\n')) resolve(text.split('\n')[0]);
    });
    child.on('exit', (code) => reject(new Error(`the viewer ended with ${code}`)));
  });
  return { url, stop: () => child.kill() };
}

/** A browser, and pages whose every error is an error here. */
export class Browser {
  errors = [];

  static async launch(executablePath) {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath, headless: true, args: FLAGS });
    return browser;
  }

  async page(url, viewport = SIZE, colorScheme = 'light') {
    const page = await this.chromium.newPage({ viewport, colorScheme });
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !isOfTheDriver(message.text())) this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(error.message));
    await page.goto(url);
    await page.waitForFunction(() => window.drystone?.drawn() > 0 && window.drystone.time() >= 0);
    return page;
  }

  /** The colours of pixels of a picture, and how many different colours it has. */
  async colours(png, points) {
    const page = await this.chromium.newPage();
    const result = await page.evaluate(
      async ([data, points]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
        const at = (x, y) => [...bytes.subarray(4 * (Math.round(y) * image.width + Math.round(x)), 4 * (Math.round(y) * image.width + Math.round(x)) + 3)];
        const different = new Set();
        for (let k = 0; k < bytes.length; k += 4) different.add((bytes[k] << 16) | (bytes[k + 1] << 8) | bytes[k + 2]);
        return { points: points.map(({ x, y }) => at(x, y)), different: different.size };
      },
      [png.toString('base64'), points],
    );
    await page.close();
    return result;
  }

  async close() {
    await this.chromium.close();
    assert.deepEqual(this.errors, [], 'the console must stay silent');
  }
}

/** Remarks of the software renderer about speed, which a page can't help. */
function isOfTheDriver(text) {
  return text.includes('GPU stall due to ReadPixels') || text.includes('GL Driver Message');
}

/** The distance of two colours, 0 to 765. */
export function distance(a, b) {
  return a.reduce((sum, value, k) => sum + Math.abs(value - b[k]), 0);
}

/** Runs checks one after another and says which failed. */
export async function run(checks, cleanUp) {
  let failed = 0;
  for (const [name, check] of checks) {
    try {
      await check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      await cleanUp().catch(() => undefined);
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  return failed;
}
