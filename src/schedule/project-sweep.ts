import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { toVerdict } from '../api/verdict.ts';
import type { ProjectCollector } from '../collectors/collector.ts';
import type { Row } from '../metrics/family.ts';
import type { Outcome } from './judge.ts';
import { type Reading, type ReadingOptions, toValidityMs } from './reading.ts';

type SweepOptions = ReadingOptions & {
  readonly collector: ProjectCollector;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** What is shown of one project, and until when. */
type Part = { readonly rows: readonly Row[]; readonly untilTicks: number };

/** What became of the projects of one pass. */
type Tally = { read: number; denied: ApiError[]; failed: ApiError[]; inARow: number };

/**
 * A collector that asks project by project, one request at a time and spread over its interval. What fails, is denied or goes
 * away is that project's alone; a server that answers none of several in a row is left for the next pass, which goes on there.
 */
export function createProjectSweep(options: SweepOptions): Reading {
  const { collector, everyMs, timeoutMs, client, watch, publisher, clock, projectList, requestsPerSecond } = options;
  const { wait = pauseFor } = options;
  const parts = new Map<string, Part>();
  const restingUntil = new Map<string, number>();
  let validForMs = toValidityMs(everyMs);
  let publishing: Promise<number> = Promise.resolve(0);
  let publishedTicks = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let nextName = '';

  function within(signal: AbortSignal): Api {
    return client.within({ lane: 'normal', forMs: timeoutMs, signal });
  }

  /** One after the other, so that the newest rows are those that stay. */
  function publish(): Promise<number> {
    publishing = publishing.then(() => {
      publishedTicks = clock.ticks();
      for (const [project, { untilTicks }] of parts) if (publishedTicks >= untilTicks) parts.delete(project);
      return publisher.publish(
        [...parts.values()].flatMap(({ rows }) => rows),
        validForMs,
      );
    });
    return publishing;
  }

  function keep(project: string, rows: readonly Row[]): void {
    parts.set(project, { rows, untilTicks: clock.ticks() + validForMs });
  }

  /** Projects that are gone take their series with them at once. */
  projectList.onRead((names) => {
    const before = parts.size;
    for (const project of parts.keys()) if (!names.has(project)) parts.delete(project);
    for (const project of restingUntil.keys()) if (!names.has(project)) restingUntil.delete(project);
    if (parts.size < before) void publish();
  });

  async function ask(project: string, of: number, signal: AbortSignal, tally: Tally): Promise<void> {
    try {
      keep(project, await collector.collect(within(signal), { name: project, of }, watch));
      tally.read += 1;
      tally.inARow = 0;
    } catch (error) {
      if (!(error instanceof ApiError) || signal.aborted) throw error;
      const verdict = toVerdict(error, collector.reads);
      if (verdict === 'version' || error.kind === 'unauthorized' || error.details.unsent === true) throw error;
      if (isGone(error)) {
        parts.delete(project);
      } else if (verdict === 'failed') {
        tally.failed.push(error);
        tally.inARow += 1;
        if (tally.inARow >= mostInARow) throw error;
      } else {
        parts.delete(project);
        restingUntil.set(project, clock.ticks() + Math.max(3 * everyMs, slowestRetryMs));
        tally.denied.push(error);
        tally.inARow = 0;
      }
    }
  }

  async function sweep(names: readonly string[], signal: AbortSignal): Promise<Tally> {
    const tally: Tally = { read: 0, denied: [], failed: [], inARow: 0 };
    const leastGapMs = (1000 * shareOfBudget) / requestsPerSecond;
    const gapMs = isFirst ? leastGapMs : Math.max(leastGapMs, (everyMs * spread) / names.length);
    for (const [index, project] of inTurn(names, nextName).entries()) {
      nextName = project;
      if ((restingUntil.get(project) ?? 0) > clock.ticks()) continue;
      if (index > 0) await wait(gapMs, signal);
      await ask(project, names.length, signal, tally);
      if (clock.ticks() - publishedTicks > publishEveryMs) await publish();
    }
    nextName = '';
    isFirst = false;
    return tally;
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    const startedTicks = clock.ticks();
    const list = await watch.projects.read(within(signal));
    const names = list.map(({ name }) => name).filter((name) => collector.covers(name, watch));
    const all = await collector.collectAll(within(signal), watch);
    if (all !== undefined) {
      parts.clear();
      for (const name of names) keep(name, all.get(name) ?? []);
      return { result: 'success', series: await publish() };
    }
    try {
      const tally = await sweep(names, signal);
      // A pass that takes longer than its interval must not make its first projects too old.
      validForMs = Math.max(toValidityMs(everyMs), 3 * (clock.ticks() - startedTicks));
      return toOutcome(tally, names.length, await publish());
    } catch (error) {
      if (!signal.aborted) await publish();
      throw error;
    }
  }

  return {
    read,
    withdraw: () => {
      parts.clear();
      publisher.withdraw();
    },
  };
}

/** A sweep takes at most one request in so many that the budget has. */
const shareOfBudget = 2;
/** The part of an interval that a pass is spread over. */
const spread = 0.8;
/** So many faults one after the other say that it is the server, not its projects. */
const mostInARow = 5;
const publishEveryMs = 5000;
const slowestRetryMs = 300_000;

function toOutcome({ read, denied, failed }: Tally, projects: number, series: number): Outcome {
  const [firstDenied] = denied;
  const [firstFailed] = failed;
  if (firstFailed !== undefined) {
    const message = `${failed.length} of ${projects} projects failed; the first: ${firstFailed.message}`;
    return { result: 'failed', kind: firstFailed.kind, message };
  }
  if (firstDenied === undefined) return { result: 'success', series };
  if (read === 0) return { result: 'off', reason: 'denied', message: firstDenied.message };
  return { result: 'success', series, note: `${denied.length} of ${projects} projects are denied` };
}

/** A project that was deleted or disabled after the list was read. */
function isGone({ kind, details }: ApiError): boolean {
  return kind === 'not_found' && details.errorCode?.startsWith('api.error.project.') === true;
}

/** All names, beginning with the one where the last pass ended early. */
function inTurn(names: readonly string[], first: string): string[] {
  const start = Math.max(0, names.indexOf(first));
  return [...names.slice(start), ...names.slice(0, start)];
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal });
}
