import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    allowOnly: false,
    passWithNoTests: true,
    silent: 'passed-only',
    testTimeout: 15_000,
    hookTimeout: 15_000,
  },
});
