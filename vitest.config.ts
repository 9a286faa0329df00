import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** They hold half a second against real sockets and processes: a neighbour's work would look like a fault. */
const alone = [
  'test/end-to-end/faults-*.test.ts',
  'test/end-to-end/{catalogue,failing-night,many-projects,members,permissions,reloading,several-servers}.test.ts',
];

/** They leave nothing behind in their process, so that one loads the code for many of them. */
const pure = [
  'collectors',
  'config',
  'domain',
  'executions',
  'expected-runs',
  'metrics',
  'simulator',
  'status',
  'tracing',
].map((room) => `test/${room}/**/*.test.ts`);

// Many of them wait for other processes.
const maxWorkers = Math.ceil(availableParallelism() * 1.5);

export default defineConfig({
  test: {
    allowOnly: false,
    passWithNoTests: true,
    silent: 'passed-only',
    // A limit that only a test that hangs reaches: processes start slowly on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests of processes, sockets and real time may meet a busy machine: what passed only when run again is named at the end.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...pure],
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: 'pure', include: pure, isolate: false, maxWorkers, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
