import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { pickPart, simulatedReleases } from './test/support/all.ts';

// The daemons and worlds that tests start load in half the time; `support/child.ts` hands it on.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

const isAll = process.env['TEST_ALL'] === 'true';

/** Files that only `npm test -- --all` runs: they take minutes, and what a change breaks there other files mostly notice. */
const onlyWithAll = [
  'test/arm64.test.ts',
  'test/debian-archive.test.ts',
  'test/debian.test.ts',
  'test/end-to-end/delivery/outage.test.ts',
  'test/end-to-end/passive-night.test.ts',
  'test/image.test.ts',
  'test/newcomer.test.ts',
  'test/repository/chart.test.ts',
];

const leftOut = isAll ? [] : onlyWithAll;

/** How much a push plays of what could go on for hours; `--all` plays the numbers in the tests. */
const sizes = { DELIVERY_KILLS: '16', EXPECTED_RUNS_DAYS: '12', FUZZ_SECONDS: '1', RESTORED_WORLDS: '2' };

/** They begin first: the run is not to end with one of them. Files that mostly wait and files that mostly compute alternate. */
const longest = [
  'test/alerts/scenarios.test.ts',
  'test/end-to-end/delivery/delivery.test.ts',
  'test/world/world.test.ts',
  'test/end-to-end/notification-links.test.ts',
  'test/alerts/weathers.test.ts',
  'test/alerts/rules.test.ts',
  'test/end-to-end/faults-ourselves.test.ts',
  'test/world/plants.test.ts',
  'test/end-to-end/failing-night.test.ts',
  'test/http/in-a-browser.test.ts',
  'test/end-to-end/replicas.test.ts',
  'test/world/replicas/replicas.test.ts',
  'test/end-to-end/alerting.test.ts',
  'test/end-to-end/delivery/enrichment.test.ts',
  'test/end-to-end/bundle.test.ts',
  'test/world/restored-copies.test.ts',
  'test/end-to-end/secrets.test.ts',
  'test/end-to-end/self-tracing.test.ts',
];

const processes = [
  'alerting',
  'bundle',
  'demo',
  'exposition',
  'failing-night',
  'faults-ourselves',
  'many-projects',
  'notification-links',
  'passive-night',
  'planted-files',
  'planted-token',
  'prometheus-scrape',
  'replicas',
  'scrapers',
  'secrets',
  'self-tracing',
  'several-servers',
];
const measures = ['half-blind', 'machine-clock', 'reload-memory', 'shell-limits'];

/** They play for long, start processes, or measure their own: each file has one of its own. The others share, and load the code once. */
const apart = [
  'test/*.test.ts',
  'test/world/**/*.test.ts',
  'test/end-to-end/*/*.test.ts',
  `test/end-to-end/{${[...processes, ...measures].join(',')}}.test.ts`,
];

const endToEnd = 'test/end-to-end/*.test.ts';

/** What the simulated servers of end-to-end tests play: the one by default with `--all`, in a push another one with each commit. */
const [picked = ''] = isAll ? [] : pickPart(['', ...simulatedReleases], simulatedReleases.length + 1);
const release = process.env['SIMULATED_RELEASE'] ?? picked;

// Many of them wait for other processes.
const maxWorkers = availableParallelism() * 3;

/** Long files first; while tools are being installed, those that need some last. */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => toRank(one.moduleId) - toRank(other.moduleId));
  }
}

function toRank(path: string): number {
  if (process.env['TOOLS_INSTALLED_AT'] !== undefined && readFileSync(path, 'utf8').includes('support/tools.ts')) {
    return longest.length + 1;
  }
  const place = longest.findIndex((file) => path.endsWith(file));
  return place < 0 ? longest.length : place;
}

export default defineConfig({
  test: {
    allowOnly: false,
    passWithNoTests: true,
    silent: 'passed-only',
    env: isAll ? {} : { ...sizes, ...pickGiven(Object.keys(sizes)) },
    // A limit that only a test that hangs reaches: processes start slowly on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests of processes, sockets and real time may meet a busy machine: what passed only when run again is named at the end.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    sequence: { sequencer: Sequencer },
    projects: [
      { extends: true, test: { name: 'apart', include: apart, exclude: leftOut, maxWorkers } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...apart, ...leftOut, endToEnd],
          isolate: false,
          maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: `release ${release === '' ? 'by default' : release}`,
          include: [endToEnd],
          exclude: [...apart, ...leftOut],
          env: { SIMULATED_RELEASE: release },
          isolate: false,
          maxWorkers,
        },
      },
    ],
  },
});

/** What the environment says otherwise. */
function pickGiven(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
