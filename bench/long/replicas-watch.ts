import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { readTraces } from '../../test/end-to-end/delivery/otlp-reader.ts';
import { toSeries } from '../../test/end-to-end/scraped.ts';
import { isCounter } from '../../test/world/shown.ts';
import type { Replica } from './replicas-scene.ts';

const counter =
  'automation_executions_total{server="prod",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';
const scrapeEveryMs = 400;

type Values = ReadonlyMap<string, number>;
type Shown = { readonly replica: Replica; readonly value: number };

/** Scrapes every replica, and notes each violation. */
export function createReplicaWatch(replicas: readonly Replica[], finished: () => number) {
  const highest = new Map<string, number>();
  const faults: string[] = [];
  const counts = { scrapes: 0, falls: 0, doubles: 0, pardonedDoubles: 0, tooMany: 0 };
  let during = 'the start';
  let pardonedUntilTicks = 0;
  let last: readonly Shown[] = [];
  const over = new AbortController();

  function note(what: keyof typeof counts, says: string): void {
    counts[what] += 1;
    if (faults.length < 100) faults.push(`${new Date().toISOString()} ${during}: ${says}`);
  }

  function compare(name: string, values: Values, before: Values): void {
    for (const [key, value] of values) {
      if (!isCounter(key) || !key.includes('server="prod"') || key.startsWith('automation_exporter_')) continue;
      const least = before.get(key) ?? 0;
      if (value < least - 1e-6) note('falls', `${name}: ${key}: ${value} after ${least}`);
      highest.set(key, Math.max(highest.get(key) ?? 0, value));
    }
    const value = values.get(counter) ?? 0;
    if (value > finished()) note('tooMany', `${name}: ${value} counted of ${finished()}`);
  }

  async function lookAtOwn(): Promise<void> {
    const isPardoned = performance.now() < pardonedUntilTicks;
    const before = new Map(highest);
    const answers = await Promise.all(replicas.map(async (replica) => ({ replica, values: await ask(replica) })));
    const shown = answers.flatMap(({ replica, values }) => {
      if (values === undefined) return [];
      counts.scrapes += 1;
      if (!isPardoned) compare(replica.name, values, before);
      const value = values.get(counter);
      return value === undefined ? [] : [{ replica, value }];
    });
    if (shown.length > 1) {
      const says = shown.map(({ replica, value }) => `${replica.name} ${value}`).join(' and ');
      note(isPardoned ? 'pardonedDoubles' : 'doubles', `two show the server: ${says}`);
    }
    last = shown;
  }

  async function repeat(look: () => Promise<void>): Promise<void> {
    while (!over.signal.aborted) {
      await look();
      await pause(scrapeEveryMs);
    }
  }
  const looking = repeat(lookAtOwn);

  return {
    counts,
    faults,
    during: () => during,
    begin: (name: string): void => {
      during = name;
    },
    /** Permits several replicas to show the server for a time. */
    pardon: (ms: number): void => {
      pardonedUntilTicks = performance.now() + ms;
    },
    /** The replica that showed the server last. */
    owner: (): Shown | undefined => (last.length === 1 ? last[0] : undefined),
    stop: async (): Promise<void> => {
      over.abort();
      await looking;
    },
  };
}

async function ask(replica: Replica): Promise<Values | undefined> {
  try {
    const response = await fetch(`${replica.url}/metrics`, { signal: AbortSignal.timeout(2000) });
    return response.ok ? toSeries(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** A trace backend that records how often each trace arrived, and with how many contents. */
export async function startDigests() {
  const traces = new Map<string, { readonly versions: Map<string, string>; times: number }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const isPacked = request.headers['content-encoding'] === 'gzip';
      for (const { traceId, bytes, spans, degraded } of readTraces(isPacked ? gunzipSync(body) : body)) {
        const found = traces.get(traceId) ?? { versions: new Map<string, string>(), times: 0 };
        const digest = createHash('sha256').update(bytes).digest('hex');
        const says = `${spans} spans${degraded === undefined ? '' : `, ${degraded}`}, at ${new Date().toISOString()}`;
        if (!found.versions.has(digest)) found.versions.set(digest, says);
        found.times += 1;
        traces.set(traceId, found);
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  return { traces, server };
}

/** A common address for a Prometheus: `/0/metrics` leads to the first replica. */
export function createBalancer(replicas: readonly Replica[]) {
  return createServer((request, response) => {
    const [, slot = ''] = (request.url ?? '').split('/');
    const replica = replicas[Number(slot)];
    const answer = async (): Promise<void> => {
      const url = `${replica?.url}/metrics`;
      const { status, headers, bytes } = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
        async (found) => ({
          status: found.status,
          headers: { 'content-type': found.headers.get('content-type') ?? 'text/plain' },
          bytes: Buffer.from(await found.arrayBuffer()),
        }),
      );
      response.writeHead(status, headers).end(bytes);
    };
    answer().catch(() => response.writeHead(502).end());
  });
}
