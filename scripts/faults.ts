import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Everything that must be able to go wrong, in the order of its number. */
export const faults: readonly string[] = [
  'The server refuses connections when the exporter starts',
  'The server goes away while it is watched',
  'The server hangs before it answers',
  'The server sends its answer a byte at a time',
  'The answer is cut short',
  'A login page comes as an answer with 200',
  'The answer is invalid, empty, null or of the wrong shape',
  'The answer is huge',
  'The answer is a compression bomb',
  'The server asks to be left alone for a long time (429)',
  'The token is rotated, or revoked',
  'The server is passive, and says so with 503',
  'Metrics are switched off in the server (404)',
  'The server does not know the API version',
  'The server redirects to another host',
  'Half of the answers fail',
  'Pages shift while they are read',
  'An execution is shorter than the interval',
  'Clocks differ, or are set back',
  'Ids of executions go on, or start again, after a restart of the server',
  'Certificates or name resolution fail',
  'The process is killed, again and again',
  'The process is told to end during a scrape and a delivery',
  'The disk is full',
  'The state is cut short, damaged, of a newer release, or used by another process',
  'The process is held up',
  'A reload finds a wrong configuration',
  'A certificate is renewed on disk',
  'The trace backend is away for hours',
  'The trace backend hangs',
  'The trace backend asks for patience (503 with Retry-After)',
  'The trace backend refuses one trace',
  'The trace backend takes a request in part',
  'The trace backend takes a request, and its answer is lost',
  'Fifty scrapers stop reading',
  'Both formats are scraped at once',
  'There are very many job names, or very long ones',
  'Names hold what has a meaning elsewhere',
  'One execution has 100 steps on 200 nodes',
  'One job has 100,000 executions in an hour',
];

const root = new URL('../', import.meta.url);

/** The titles of the tests by the number of the fault that they are named after. */
export function readFaultTests(): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const file of globSync('test/**/*.ts', { cwd: fileURLToPath(root) }).sort()) {
    for (const [, quote = '', title = ''] of readFileSync(new URL(file, root), 'utf8').matchAll(titles)) {
      const text = quote === '`' ? title.replaceAll(/\$\{[^}]*\}/g, '') : title;
      for (const [, row] of text.matchAll(/faults\/row-(\d+)/g)) {
        found.set(Number(row), [...(found.get(Number(row)) ?? []), text]);
      }
    }
  }
  return found;
}

const titles = /(['`])((?:(?!\1).)*faults\/row-\d+(?:(?!\1).)*)\1/g;

/** The faults and the tests that play them, as a page. */
export function renderFaults(): string {
  const tests = readFaultTests();
  const rows = faults.map((fault, index) => {
    const of = (tests.get(index + 1) ?? []).map((title) => title.replaceAll('|', '\\|'));
    return `| ${index + 1} | ${fault} | ${of.join('<br>')} |`;
  });
  return `${head}${rows.join('\n')}\n`;
}

const head = `# Faults

Everything that must be able to go wrong without lasting harm, and the tests that play it. A test is named after its row:
\`npm exec -- vitest run -t 'faults/row-27:'\` runs those of row 27. This table is generated: \`npm run generate\`.

| row | what goes wrong | tests |
|---|---|---|
`;
