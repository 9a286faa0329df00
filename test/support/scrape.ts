import { type ErrorKind, errorKinds } from '../../src/api/errors.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { OffReason } from '../../src/schedule/collector.ts';
import { createCollectorReading } from '../../src/schedule/collector-reading.ts';
import type { Outcome } from '../../src/schedule/outcome.ts';
import { createPoll } from '../../src/schedule/poll.ts';
import { createProjectRows, createPublisher } from '../../src/schedule/reading.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { type CannedAnswer, startCannedServer } from './canned-server.ts';
import { createTestClient, fixedSecret } from './client.ts';
import { fakeClock } from './fake-clock.ts';
import { createTestWatch, type WatchSettings } from './watch.ts';

export type { CannedAnswer } from './canned-server.ts';

type Answers = Readonly<Record<string, CannedAnswer>>;

type Upstream = {
  readonly apiVersion?: number;
  readonly dialect?: 'service' | 'rundeck';
  readonly answers: Answers;
  readonly nowMs?: number;
  /** The answers of earlier polls. */
  readonly before?: Answers | readonly Answers[];
  readonly watch?: WatchSettings;
};

type Scrape = { readonly text: string; readonly outcome: 'success' | ErrorKind };

/** Returns the complaints on pages after one poll of a collector. */
export async function complaintsOf(name: string, upstream: Upstream): Promise<readonly string[]> {
  const { last } = await pollOnce(name, upstream);
  return last?.result === 'success' ? (last.complaints ?? []) : [];
}

/** Runs one poll of a collector over a real socket; returns its scrape without HELP. */
export async function scrapeCollector(name: string, upstream: Upstream): Promise<Scrape> {
  const { text, last } = await pollOnce(name, upstream);
  return { text, outcome: toOutcome(last) };
}

async function pollOnce(name: string, upstream: Upstream) {
  const { apiVersion = 47, dialect = 'rundeck', answers, nowMs = 1_716_200_000_000, before } = upstream;
  const collector = collectors.find((candidate) => candidate.name === name);
  if (collector === undefined) throw new Error(`there is no collector ${name}`);
  const canned = await startCannedServer({ apiVersion, dialect });
  const state = openSqliteState({ memory: true });
  let clockMs = nowMs;
  const clock = fakeClock({ now: () => clockMs, ticks: () => clockMs });
  const { client, close } = createTestClient({ url: canned.url, token: fixedSecret(canned.token), clock });
  try {
    const snapshots = createSnapshots(clock);
    const self = createSelf({ version: 'test', nodeVersion: 'test' });
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const key = { server: 'prod', collector: name };
    const rules = { families: new Map(), maxSeries: 10_000 };
    const hidesMembers = () => false;
    const publisher = createPublisher({ key, collector, labels: [], rules, hidesMembers, snapshots, self });
    const { watch, projectList } = createTestWatch(clock, upstream.watch);
    if (collector.kind !== 'server' && collector.kind !== 'project')
      throw new Error('executions have tests of their own');
    const everyMs = 100;
    const limits = { everyMs, timeoutMs: 5000, requestsPerSecond: 1_000_000 };
    const projectRows = createProjectRows();
    const parts = { key, ...limits, client, watch, projectList, projectRows, state, publisher, log, clock };
    const toPoll = () => {
      const reading = createCollectorReading(collector, parts);
      return createPoll({ key, collector, everyMs, reading, self, log, vitality: ignore, clock });
    };
    clockMs = nowMs - 60_000;
    for (const earlier of [before ?? []].flat()) {
      canned.answer(earlier);
      await toPoll().run(new AbortController().signal);
    }
    clockMs = nowMs;
    canned.answer(answers);
    // Each poll begins anew, as after a reload.
    const poll = toPoll();
    await poll.run(new AbortController().signal);
    const text = withoutHelp(Buffer.concat(snapshots.show('text').text).toString('utf8')).trimEnd();
    return { text, last: poll.last()?.outcome };
  } finally {
    await close();
    await state.close();
    await canned.stop();
  }
}

/** Removes the indentation of a literal text. */
export function golden(literal: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw(literal, ...values)
    .replace(/^ +/gm, '')
    .trim();
}

/** The text of a scrape after a successful poll. */
export function shown(literal: TemplateStringsArray, ...values: readonly string[]): Scrape {
  return { outcome: 'success', text: golden(literal, ...values) };
}

/** A refusal in the form of the server's errors. */
export function refusal(status: number, errorCode: string, message = 'refused'): CannedAnswer {
  return { status, body: `{"error":true,"apiversion":47,"errorCode":"${errorCode}","message":"${message}"}` };
}

/** The outcome of a poll; an answer without meaning counts as a success. */
function toOutcome(outcome: Outcome | undefined): Scrape['outcome'] {
  if (outcome === undefined || outcome.result === 'success') return 'success';
  if (outcome.result === 'failed') return errorKinds.find((kind) => kind === outcome.kind) ?? 'decode';
  return offKinds[outcome.reason] ?? 'success';
}

const offKinds: Partial<Record<OffReason, ErrorKind>> = {
  denied: 'forbidden',
  not_found: 'not_found',
  version: 'unsupported_version',
};

function ignore(): void {}

/** Removes HELP lines and sorts the samples of each family, so that texts can be compared. */
function withoutHelp(text: string): string {
  const families = text.split(/^# HELP .*\n/m).filter((family) => family !== '');
  return families
    .map((family) => {
      const [type, ...samples] = family.trimEnd().split('\n');
      return `${[type, ...samples.sort()].join('\n')}\n`;
    })
    .join('');
}
