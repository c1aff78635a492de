import { defineConfig } from 'vitest/config';

/** The page in a real browser, against a running edge: see tests/page. */
export default defineConfig({
  test: {
    include: ['tests/page/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
