// Bundles the page into one HTML file: `node build.mjs page.html`.
import { build } from 'esbuild';
import { readFile, writeFile } from 'node:fs/promises';

const target = process.argv[2] ?? 'page.html';
const result = await build({
  entryPoints: ['src/main.ts'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  loader: { '.css': 'text' },
  write: false,
});
// Inside a page, these words would end the script.
const script = result.outputFiles[0].text.replaceAll('</script', '<\\/script');
const licence = 'Contains three.js, copyright three.js authors, under the MIT licence.';
const page = (await readFile('index.html', 'utf8')).replace(
  '<!-- script -->',
  () => `<!-- ${licence} -->\n<script>${script}</script>`,
);
await writeFile(target, page);
