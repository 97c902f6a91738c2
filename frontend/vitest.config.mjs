// Where the tests are and how TSX is read.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: { include: ['tests/**/*.test.{ts,tsx}'], environment: 'node', testTimeout: 120_000 }, // a busy machine is no failure
});
