import { createTokenCredentials } from '../../src/api/auth/token.ts';
import { createClient } from '../../src/api/client.ts';
import type { ErrorKind } from '../../src/api/errors.ts';
import { createTransport } from '../../src/api/transport.ts';
import { collectors } from '../../src/collectors/index.ts';
import { renderSegments } from '../../src/metrics/exposition.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { createPoll } from '../../src/schedule/poll.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { type CannedAnswer, startCannedServer } from './canned-server.ts';

export type { CannedAnswer } from './canned-server.ts';

export type Upstream = {
  readonly apiVersion?: number;
  readonly dialect?: 'service' | 'rundeck';
  readonly answers: Readonly<Record<string, CannedAnswer>>;
  readonly nowMs?: number;
  readonly before?: Readonly<Record<string, CannedAnswer>>;
};

export type Scrape = { readonly text: string; readonly outcome: 'success' | ErrorKind };

/** One poll of a collector through the real client against a real socket, and what a scrape then shows of it, HELP left out. */
export async function scrapeCollector(name: string, upstream: Upstream): Promise<Scrape> {
  const { apiVersion = 47, dialect = 'rundeck', answers, nowMs = 1_716_200_000_000, before } = upstream;
  const collector = collectors.find((candidate) => candidate.name === name);
  if (collector === undefined) throw new Error(`there is no collector ${name}`);
  const canned = await startCannedServer({ apiVersion, dialect });
  const transport = createTransport({ url: canned.url, timeoutMs: 5000 });
  const state = openSqliteState({ memory: true });
  let clockMs = nowMs;
  const now = (): number => clockMs;
  const kinds: ErrorKind[] = [];
  try {
    const snapshots = createSnapshots(now);
    const client = createClient({
      transport,
      credentials: createTokenCredentials(() => canned.token),
      dialect: 'auto',
      apiVersion: 'auto',
      now,
      observe: { request: ignore, error: (_endpoint, kind) => kinds.push(kind) },
    });
    const self = createSelf({ version: 'test', nodeVersion: 'test' });
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const poll = createPoll({ server: 'prod', collector, everyMs: 15_000, client, state, snapshots, self, log, now });
    if (before !== undefined) {
      clockMs = nowMs - 60_000;
      canned.answer(before);
      await poll.run(new AbortController().signal);
      clockMs = nowMs;
    }
    canned.answer(answers);
    await poll.run(new AbortController().signal);
    // A request that succeeded is a success here, even where its answer means nothing.
    const failed = poll.last()?.outcome.result !== 'success';
    return {
      text: withoutHelp(renderSegments(snapshots.segments(), 'text')),
      outcome: (failed ? kinds.at(-1) : undefined) ?? 'success',
    };
  } finally {
    await transport.close();
    await state.close();
    await canned.stop();
  }
}

function ignore(): void {}

/** HELP lines left out and each family's samples sorted, as the literal expectations are written. */
function withoutHelp(text: string): string {
  const families = text.split(/^# HELP .*\n/m).filter((family) => family !== '');
  return families
    .map((family) => {
      const [type, ...samples] = family.trimEnd().split('\n');
      return `${[type, ...samples.sort()].join('\n')}\n`;
    })
    .join('');
}
