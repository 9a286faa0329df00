import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The faults that must do no lasting harm, with the exporter's reactions. The number of a fault is its place in the list. */
export const faults: readonly (readonly [fault: string, outcome: string])[] = [
  ['The server refuses connections at the start', 'Reports the server as down until the server responds'],
  ['The server stops while it is watched', 'Keeps the counters, and continues when the server is back'],
  ['The server accepts a request and never responds', 'Stops at the timeout; only vital polls continue'],
  ['The server sends its response a byte at a time', 'One deadline covers the whole response'],
  ['A response is cut short', 'The poll fails; no part of the response is used'],
  [
    'A login page arrives with status 200',
    'Reports rejected credentials; another HTML page is an error of kind `html`',
  ],
  ['A response is invalid, empty, null or of the wrong shape', 'The poll fails with kind `decode` or `empty`'],
  ['A response is huge', 'Stops reading at the limit; only this collector fails'],
  ['A response is a compression bomb', 'Stops inflating at the limit; only this collector fails'],
  ['The server answers 429 with a long Retry-After', 'Waits as asked, at most five minutes'],
  [
    'The token is rotated or revoked',
    'Reads the file of the token again; reports rejected credentials until a token works',
  ],
  ['A passive server reports its mode with 503', 'Reads the mode; the poll succeeds'],
  ['Metrics are disabled on the server (404)', 'The collector is off; nothing fails'],
  ['The server does not know the API version', 'Uses the newest common version, or reports that there is none'],
  ['The server redirects to another host', 'Sends nothing to the other host'],
  ['Every second response fails', 'Retries; every poll succeeds'],
  ['Pages of a list shift while they are read', 'Reads every row'],
  ['An execution is shorter than the interval', 'Counts the execution once'],
  ['Clocks differ, or the server clock is set back', 'Measures the skew; polls and counters continue'],
  ['The server restarts; its ids continue or start again', 'Counts every execution once'],
  ['A certificate or name resolution fails', 'Names the error, and recovers after the repair'],
  ['The process is killed repeatedly', 'Loses nothing and counts nothing twice'],
  ['The process is stopped during a scrape and a delivery', 'Finishes in time and loses nothing'],
  ['The disk is full', 'Scrapes continue; when there is space, counts every execution once'],
  [
    'The state is truncated, damaged, newer, removed or in use',
    'Restores the backup, or refuses to start; counts nothing twice',
  ],
  ['The process is suspended', 'Continues, reports the pause, and reports no server as down'],
  ['A reload finds an invalid configuration', 'Keeps the previous configuration'],
  [
    'A certificate file is replaced',
    'Uses a valid certificate without a failed scrape; otherwise keeps the old certificate',
  ],
  [
    'The trace backend is away for hours',
    'Counts every execution and every skipped trace, with limited memory and disk',
  ],
  ['The trace backend accepts a request and never responds', 'Delivers every trace later'],
  ['The trace backend answers 503 with Retry-After', 'Delivers every trace later'],
  ['The trace backend rejects one trace', 'Quarantines and reports the trace; a retry delivers it after the repair'],
  ['The trace backend accepts part of a request', 'Delivers every trace'],
  ['The response of the trace backend is lost', 'Delivers every trace, perhaps twice with the same ids'],
  ['Fifty scrapers stop reading', 'Disconnects slow clients; memory stays limited, and polls continue'],
  [
    'Fifty scrapers use both formats simultaneously',
    'The server gets no extra request, and each scraper gets its format',
  ],
  ['There are too many job names, or very long ones', 'A scrape stays below 20 MB; every execution is counted'],
  ['Names contain special characters', 'Labels contain the names unchanged'],
  ['An execution has 100 steps on 200 nodes', 'The trace keeps to the limits, and contains all failures'],
  ['A job has 100,000 executions in an hour', 'Counts each execution once'],
];

const root = new URL('../', import.meta.url);

/** Returns test files by the number of the fault that their tests name. */
export function readFaultTests(): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const file of globSync('test/**/*.test.ts', { cwd: fileURLToPath(root) }).sort()) {
    const rows = readFileSync(new URL(file, root), 'utf8').matchAll(/faults\/row-(\d+):/g);
    for (const row of new Set([...rows].map(([, number]) => Number(number)))) {
      found.set(row, [...(found.get(row) ?? []), file]);
    }
  }
  return found;
}

/** Renders the page of the faults, with the reaction of the exporter and the tests of each. */
export function renderFaults(): string {
  const tests = readFaultTests();
  const rows = faults.map(([fault, outcome], index) => {
    const links = (tests.get(index + 1) ?? []).map(
      (file) => `[${basename(file, '.test.ts')}](${file.replace('test/', '')})`,
    );
    return `| ${index + 1} | ${fault} | ${outcome} | ${links.join(' ')} |`;
  });
  return `${head}${rows.join('\n')}\n`;
}

const head = `# Faults

Faults that do no lasting harm, and the tests that prove it. \`npm exec -- vitest run -t 'faults/row-27:'\` runs the tests of row 27. This table is
generated.

| row | fault | what the exporter does | tests |
|---|---|---|---|
`;
