import { createExposition } from '../src/metrics/exposition.ts';
import { createSelf } from '../src/metrics/self.ts';
import { createSnapshots } from '../src/metrics/snapshot.ts';
import { fakeClock } from '../test/support/fake-clock.ts';
import { collectorCount, createRows, publishRows } from './scrape-series.ts';

/** A process that publishes and scrapes many series, and prints its highest memory. */
const series = Number(process.argv[2]);
const rounds = 5;
const ticks = (): number => performance.now();
const snapshots = createSnapshots(fakeClock({ ticks }));
const { registry } = createSelf({ version: 'bench', nodeVersion: process.version });
const exposition = createExposition({ snapshots, registry, labelsOf: () => [], ticks });

let highest = 0;
for (let round = 0; round < rounds; round++) {
  for (let collector = 0; collector < collectorCount; collector++) {
    await publishRows(snapshots, collector, createRows(collector, series / collectorCount, round));
    await exposition.scrape({ format: 'openmetrics', gzip: true });
    highest = Math.max(highest, process.memoryUsage.rss());
  }
}
console.log(highest);
