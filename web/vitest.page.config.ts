import { defineConfig } from 'vitest/config';

/** The page in a real browser, against a running edge, and against one that is broken on purpose. */
export default defineConfig({
  test: {
    include: ['tests/{page,faults}/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
