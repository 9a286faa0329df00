import type { ProjectCollector } from '../collectors/collector.ts';
import type { Outcome } from './outcome.ts';
import { createProjectRows } from './project-rows.ts';
import { type Reading, type ReadingOptions, toValidityMs } from './reading.ts';
import { createRequestGap } from './request-gap.ts';
import { type Fault, isSilence, judgeFault, toFault, toOutcome } from './sweep-fault.ts';

type SweepOptions = ReadingOptions & { readonly collector: ProjectCollector };

/** Counts the results of one pass by project. */
type Tally = {
  read: number;
  firstRead: string | undefined;
  failedInARow: number;
  readonly denied: Fault[];
  readonly failed: Fault[];
};

/**
 * Reads a collector project by project, one request at a time and spread over its interval. A project that fails, is denied or
 * disappears only affects itself; a server that does not answer several in a row is left for the next pass, which continues
 * there.
 */
export function createProjectSweep(options: SweepOptions): Reading {
  const { collector, everyMs, timeoutMs, client, watch, publisher, clock, projectList, requestsPerSecond } = options;
  const projectRows = options.projectRows ?? createProjectRows();
  const resting = new Map<string, { readonly fault: Fault; readonly untilTicks: number }>();
  const gap = createRequestGap({
    clock,
    shared: options.sharedGap,
    open: (signal) => client.within({ lane: 'normal', forMs: timeoutMs, signal }),
  });
  let isListed: (project: string) => boolean = () => true;
  let publishing: Promise<unknown> = Promise.resolve();
  let publishedTicks = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  /** The pass before was given up: after an outage nothing is to wait for a pass that takes the whole interval. */
  let isCutShort = false;
  let nextName = '';
  let requests = 0;

  /** One after the other, so that the newest rows are those that stay. */
  function publish(): Promise<number> {
    const published = publishing.then(() => {
      publishedTicks = clock.ticks();
      const validForMs = Math.max(toValidityMs(everyMs), 3 * projectRows.passMs);
      const { rows, newestTicks } = projectRows.since(publishedTicks - validForMs);
      return publisher.publish(rows, newestTicks + validForMs - publishedTicks);
    });
    publishing = published.catch(ignore);
    return published;
  }

  function withdraw(): void {
    projectRows.retain(() => false);
    isFirst = true;
    publisher.withdraw();
    // Rows that are being published at this moment must be withdrawn too.
    publishing = publishing.then(() => (isFirst ? publisher.withdraw() : undefined));
  }

  /** Projects that are gone take their series with them at once. */
  projectList.onRead((names) => {
    isListed = (project) => project === wholeServer || names.has(project);
    for (const project of resting.keys()) if (!isListed(project)) resting.delete(project);
    // If that fails, the next pass publishes the same rows, and reports it.
    if (projectRows.retain(isListed)) publish().catch(ignore);
  });

  async function ask(project: string, of: number, signal: AbortSignal): Promise<Error | undefined> {
    try {
      const rows = await collector.collect(gap.api(signal), { name: project, of }, watch);
      // It may have gone while it was asked.
      if (isListed(project)) projectRows.keep(project, rows, clock.ticks());
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Notes the result of a project that was not read. */
  function note(project: string, error: Error, tally: Tally, restUntilTicks: number): void {
    const verdict = judgeFault(error, collector.reads);
    const fault = toFault(error);
    switch (verdict) {
      case 'all':
        throw error;
      case 'gone':
        projectRows.drop(project);
        tally.failedInARow = 0;
        break;
      case 'denied':
        projectRows.drop(project);
        resting.set(project, { fault, untilTicks: restUntilTicks });
        tally.denied.push(fault);
        tally.failedInARow = 0;
        break;
      case 'failed':
        tally.failed.push(fault);
        tally.failedInARow += 1;
    }
  }

  async function sweep(names: readonly string[], signal: AbortSignal, tally: Tally): Promise<void> {
    const startedTicks = clock.ticks();
    const restUntilTicks = startedTicks + Math.max(everyMs, slowestRetryMs);
    const leastGapMs = (1000 * shareOfBudget) / requestsPerSecond;
    const evenGapMs = (spread * everyMs) / Math.max(1, names.length, requests);
    const isHurried = isFirst || isCutShort;
    gap.begin(isHurried ? leastGapMs : Math.max(leastGapMs, evenGapMs));
    const publishEveryMs = isHurried ? leastPublishMs : Math.max(leastPublishMs, everyMs / 20);
    const order = rotate(names, nextName);
    for (const [index, project] of order.entries()) {
      const rest = resting.get(project);
      if (rest !== undefined && clock.ticks() < rest.untilTicks) {
        tally.denied.push(rest.fault);
        continue;
      }
      resting.delete(project);
      if (!isListed(project)) continue;
      nextName = project;
      const error = await ask(project, names.length, signal);
      projectRows.passMs = Math.max(projectRows.passMs, clock.ticks() - startedTicks);
      if (error === undefined) {
        tally.read += 1;
        tally.firstRead ??= project;
        tally.failedInARow = 0;
      } else {
        note(project, error, tally, restUntilTicks);
        if (tally.failedInARow >= mostInARow && (tally.read === 0 || isSilence(error))) {
          nextName = order[index + 1] ?? '';
          throw error;
        }
      }
      if (clock.ticks() - publishedTicks > publishEveryMs) await publish();
    }
    // The next pass begins with a project that can be read: earlier ones that fail must not end it early.
    nextName = tally.firstRead ?? '';
    projectRows.passMs = clock.ticks() - startedTicks;
    requests = gap.asked();
    isFirst = false;
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    const tally: Tally = { read: 0, firstRead: undefined, failedInARow: 0, denied: [], failed: [] };
    try {
      const api = client.within({ lane: 'normal', forMs: timeoutMs, signal });
      const list = await watch.projects.read(api);
      const covered = list.map(({ name }) => name).filter((name) => collector.covers(name, watch));
      const names = (collector.andServer ? [wholeServer, ...covered] : covered).toSorted();
      const isCovered = new Set(names);
      projectRows.retain((name) => isCovered.has(name));
      const all = await collector.collectAll(api, watch);
      if (all !== undefined) {
        for (const name of names) projectRows.keep(name, all.get(name) ?? [], clock.ticks());
        return { result: 'success', series: await publish() };
      }
      await sweep(names, signal, tally);
      isCutShort = false;
      return toOutcome({ ...tally, projects: names.length, series: await publish() });
    } catch (error) {
      isCutShort = true;
      if (!signal.aborted) await publish();
      throw error;
    }
  }

  /** By the rules of now; what is too old by them goes away. */
  async function resume(): Promise<void> {
    if (!projectRows.isEmpty()) await publish();
  }

  return { read, withdraw, resume };
}

/** Stands for the server as a whole among the projects; no project is called like this. */
const wholeServer = '';
/** A sweep takes at most one request in so many that the budget has. */
const shareOfBudget = 2;
/** The part of an interval that a pass is spread over. */
const spread = 0.8;
/** More faults in a row than this are the fault of the server, not of its projects. */
const mostInARow = 5;
const leastPublishMs = 5000;
const slowestRetryMs = 300_000;

/** All names, beginning with the one where the last pass ended early, or the next one if that is gone. */
function rotate(sortedNames: readonly string[], first: string): string[] {
  const start = sortedNames.findIndex((name) => name >= first);
  return start <= 0 ? [...sortedNames] : [...sortedNames.slice(start), ...sortedNames.slice(0, start)];
}

function ignore(): void {}
