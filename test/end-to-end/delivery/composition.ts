import { readFileSync } from 'node:fs';
import { createTokenCredentials, type SecretSource } from '../../../src/api/auth/credentials.ts';
import { createClient } from '../../../src/api/client.ts';
import { createProjectList } from '../../../src/api/project-list.ts';
import { createTransport } from '../../../src/api/wire/transport.ts';
import type { Joined } from '../../../src/daemon/trace-pipeline.ts';
import { systemClock } from '../../../src/domain/system-clock.ts';
import { createExecutions } from '../../../src/executions/executions.ts';
import type { ExecutionSettings } from '../../../src/executions/settings.ts';
import { createTracePort } from '../../../src/executions/trace-port.ts';
import type { Row } from '../../../src/metrics/family.ts';
import { renderSamples } from '../../../src/metrics/render.ts';
import type { CommitHook, Ledger } from '../../../src/state/ledger.ts';
import { usual } from '../../executions/scene.ts';
import { createHandClock, type HandClock } from './hand-clock.ts';

export type WatchOptions = {
  readonly url: string;
  readonly tokenFile: string;
  readonly ledger: Ledger;
  readonly rules: WatchRules;
  readonly publish: (text: string) => void;
  /** Creates the traces of counted executions; if absent, no traces are created. */
  readonly trace?: Trace | undefined;
  readonly clock?: HandClock;
  readonly timeoutMs?: number;
};

/** Receives the rounds of the daemon. */
export type Trace = (joined: Joined) => CommitHook;

export type WatchRules = Pick<ExecutionSettings, 'backfillMs' | 'holdNewSeriesMs'>;

export type Watch = {
  /** Plays one round at a virtual time; returns its error. */
  readonly round: (nowMs: number) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

/** The daemon's rounds with its real client, on a clock that only the test moves. */
export function createWatch(options: WatchOptions): Watch {
  const { url, tokenFile, ledger, rules, publish, trace } = options;
  const { clock = createHandClock(), timeoutMs = 10_000 } = options;
  const transport = createTransport({ url, timeoutMs, clock: systemClock });
  const ignore = (): void => {};
  const client = createClient({
    transport,
    credentials: createTokenCredentials(readTokenFile(tokenFile)),
    dialect: 'rundeck',
    apiVersion: 47,
    timeoutMs: 10_000,
    // A round takes no time, so a real budget would never refill.
    budget: { requestsPerSecond: 1_000_000, concurrency: 10 },
    clock,
    observe: { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore },
  });
  const list = createProjectList({ isWanted: () => true, clock });
  const tracePort = createTracePort(settings.buckets);
  const commitHook = trace?.({ client, port: tracePort, suspectsOf: async () => [] });
  const executions = createExecutions({
    server: 'upstream',
    everyMs: 15_000,
    timeoutMs: 10_000,
    requestsPerSecond: 10,
    client,
    ledger,
    clock,
    commitHook,
    tracePort,
    readProjects: list.readDated,
    settings: { ...settings, ...rules },
    publish: async (rows) => {
      publish(renderSamplesOf(rows));
      return rows.length;
    },
    omits: () => false,
    withdraw: ignore,
    observe: {
      observed: ignore,
      late: ignore,
      imported: ignore,
      unmeasured: ignore,
      skipped: ignore,
      dropped: ignore,
      unknownValue: ignore,
      lag: ignore,
      epoch: ignore,
      entries: ignore,
    },
  });

  return {
    round: async (nowMs) => {
      clock.set(nowMs);
      try {
        const outcome = await executions.read(new AbortController().signal);
        return outcome.result === 'success' ? undefined : outcome.message;
      } catch (error) {
        return error instanceof Error ? (error.stack ?? error.message) : String(error);
      }
    },
    close: () => transport.close(),
  };
}

const settings = { ...usual, buckets: [10] };

/** The families whose values never fall. */
const shown = [
  'automation_executions_total',
  'automation_execution_duration_seconds',
  'automation_execution_nodes_total',
  'automation_node_failures_total',
];

function renderSamplesOf(rows: readonly Row[]): string {
  return shown
    .map((name) => renderSamples(rows.filter((row) => row.family.name === name && row.suffix !== '_bucket')))
    .join('');
}

/** Reads a token from a file, again after each refusal. */
function readTokenFile(path: string): SecretSource {
  const value = readFileSync(path, 'utf8').trim();
  return { reveal: () => value, reread: async () => readTokenFile(path) };
}
