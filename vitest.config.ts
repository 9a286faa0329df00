import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    allowOnly: false,
    passWithNoTests: true,
    silent: 'passed-only',
    // Most tests wait for other processes: as many at once as there are cores.
    maxWorkers: '100%',
    testTimeout: 15_000,
    hookTimeout: 15_000,
  },
});
