// Bundles the two doors and the style sheet into the Python package, and writes down what went into them.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = new URL('.', import.meta.url);
const out = fileURLToPath(new URL('../tb_shapeplugin/serve/static/', here));
const dist = fileURLToPath(new URL('dist/', here));

await rm(out, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
const result = await esbuild.build({
  absWorkingDir: fileURLToPath(here),
  entryPoints: { index: 'src/main.tsx', layout_worker: 'src/layout_worker.ts', style: 'src/style.css' },
  outdir: out,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: false,
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
  logLevel: 'info',
});
await writeFile(`${dist}meta.json`, JSON.stringify(result.metafile));
