import type { ProjectCollector, ProjectToAsk } from './collector.ts';
import { type Fault, isSilence, judgeFault, type Outcome, toFault, toOutcome } from './outcome.ts';
import { retryMs } from './poll.ts';
import { createProjectRows, type ProjectRows, type Reading, type ReadingOptions, toValidityMs } from './reading.ts';
import { createRequestGap, type RequestGap } from './request-gap.ts';

type SweepOptions = ReadingOptions & { collector: ProjectCollector };

type Tally = { read: number; firstRead: string | undefined; failedInARow: number; denied: Fault[]; failed: Fault[] };

/**
 * Reads a collector project by project, one request at a time, spread over its interval. A project that fails, is denied or
 * disappears affects only itself. After several requests without a response, the pass ends, and the next pass continues there.
 */
export function createProjectSweep(options: SweepOptions): Reading {
  const { timeoutMs, client, clock, projectList, projectRows = createProjectRows() } = options;
  const progress: Progress = { isFirst: true, isCutShort: false, nextName: '', requests: 0 };
  const shown = createShownRows(options, projectRows, progress);
  const sweep: Sweep = {
    ...options,
    projectRows,
    progress,
    shown,
    resting: new Map(),
    gap: createRequestGap({
      clock,
      shared: options.sharedGap,
      open: (signal) => client.within({ lane: 'normal', forMs: timeoutMs, signal }),
    }),
    isListed: () => true,
  };

  /** The series of deleted projects end immediately. */
  projectList.onRead((names) => {
    sweep.isListed = (project) => project === wholeServer || names.has(project);
    for (const project of sweep.resting.keys()) if (!sweep.isListed(project)) sweep.resting.delete(project);
    // An error while publishing is ignored, because the next pass publishes the same rows and reports the error.
    if (projectRows.retain(sweep.isListed)) shown.publish().catch(ignore);
  });

  return {
    isSpread: true,
    read: (signal) => readAll(sweep, signal),
    withdraw: shown.withdraw,
    /** Publishes the stored rows with the current configuration. Expired rows are removed. */
    resume: async () => {
      if (!projectRows.isEmpty()) await shown.publish();
    },
  };
}

type Sweep = SweepOptions & {
  projectRows: ProjectRows;
  progress: Progress;
  shown: ShownRows;
  /** Denied projects that are not read for a while. */
  resting: Map<string, { fault: Fault; untilTicks: number }>;
  gap: RequestGap;
  isListed: (project: string) => boolean;
};

/** Data that one pass leaves for the next. */
type Progress = {
  /** True until a pass is complete after the start, or after the rows were withdrawn. */
  isFirst: boolean;
  /** True if the last pass ended early. After an outage, the next pass uses only a part of the interval. */
  isCutShort: boolean;
  nextName: string;
  /** The number of requests in the last complete pass. */
  requests: number;
};

async function readAll(sweep: Sweep, signal: AbortSignal): Promise<Outcome> {
  const { collector, timeoutMs, client, watch, clock, projectRows, shown, progress } = sweep;
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
      return { result: 'success', series: await shown.publish() };
    }
    await readEach(sweep, names, { signal, tally });
    progress.isCutShort = false;
    return toOutcome({ ...tally, projects: names.length, series: await shown.publish() });
  } catch (error) {
    progress.isCutShort = true;
    if (!signal.aborted) await shown.publish();
    throw error;
  }
}

type Pass = { signal: AbortSignal; tally: Tally };

async function readEach(sweep: Sweep, names: readonly string[], { signal, tally }: Pass): Promise<void> {
  const { clock, projectRows, resting, gap, shown, progress } = sweep;
  const needs = new Map(names.map((name) => [name, projectRows.needs.get(name)]));
  projectRows.needs = needs;
  const startedTicks = clock.ticks();
  const restUntilTicks = startedTicks + retryMs;
  const { gapMs, publishEveryMs } = toPace(sweep, names.length);
  gap.begin(gapMs);
  const order = rotate(names, progress.nextName);
  const silent = new Map<string, Fault | undefined>();
  for (const [index, project] of order.entries()) {
    const rest = resting.get(project);
    if (rest !== undefined && clock.ticks() < rest.untilTicks) {
      tally.denied.push(rest.fault);
      continue;
    }
    resting.delete(project);
    if (!sweep.isListed(project)) continue;
    progress.nextName = project;
    const error = await readOne(sweep, { name: project, needs }, signal);
    projectRows.passMs = Math.max(projectRows.passMs, clock.ticks() - startedTicks);
    if (error === undefined) {
      tally.read += 1;
      tally.firstRead ??= project;
      tally.failedInARow = 0;
    } else {
      noteFault(sweep, { project, error, restUntilTicks }, tally);
      if (isSilence(error)) silent.set(project, tally.failed.at(-1));
      if (tally.failedInARow >= maxInARow && (tally.read === 0 || isSilence(error))) {
        progress.nextName = order[index + 1] ?? '';
        throw error;
      }
    }
    if (shown.ageMs() > publishEveryMs) await shown.publish();
  }
  // Projects that failed in a short outage are read again immediately.
  for (const [project, fault] of tally.failedInARow === 0 ? silent : []) {
    if ((await readOne(sweep, { name: project, needs }, signal)) !== undefined) break;
    tally.read += 1;
    tally.failed = tally.failed.filter((each) => each !== fault);
  }
  // The next pass starts with a readable project, so that errors of earlier projects do not end it early.
  progress.nextName = tally.firstRead ?? '';
  projectRows.passMs = clock.ticks() - startedTicks;
  progress.requests = gap.asked();
  progress.isFirst = false;
}

/** Computes the time between the requests of a pass: the pass is spread over its interval, within its share of the budget. */
function toPace(
  { everyMs, requestsPerSecond, progress: { isFirst, isCutShort, requests } }: Sweep,
  projects: number,
): { gapMs: number; publishEveryMs: number } {
  const minGapMs = (1000 * shareOfBudget) / requestsPerSecond;
  if (isFirst || isCutShort) return { gapMs: minGapMs, publishEveryMs: minPublishMs };
  const evenGapMs = (spread * everyMs) / Math.max(1, projects, requests);
  return { gapMs: Math.max(minGapMs, evenGapMs), publishEveryMs: Math.max(minPublishMs, everyMs / 20) };
}

async function readOne(sweep: Sweep, project: ProjectToAsk, signal: AbortSignal): Promise<Error | undefined> {
  const { collector, gap, watch, clock, projectRows } = sweep;
  try {
    const rows = await collector.collect(gap.api(signal), project, watch);
    // The project may have been deleted meanwhile.
    if (sweep.isListed(project.name)) projectRows.keep(project.name, rows, clock.ticks());
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error : new Error(String(error));
  }
}

type Unread = { project: string; error: Error; restUntilTicks: number };

function noteFault(
  { collector, projectRows, resting }: Sweep,
  { project, error, restUntilTicks }: Unread,
  tally: Tally,
): void {
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

type ShownRows = ReturnType<typeof createShownRows>;

/** Publishes the rows of all projects. Calls run one after the other, so that the newest rows are published last. */
function createShownRows({ everyMs, publisher, clock }: SweepOptions, projectRows: ProjectRows, progress: Progress) {
  let publishing: Promise<unknown> = Promise.resolve();
  let publishedTicks = Number.NEGATIVE_INFINITY;
  return {
    publish: (): Promise<number> => {
      const published = publishing.then(() => {
        publishedTicks = clock.ticks();
        const validForMs = Math.max(toValidityMs(everyMs), 3 * projectRows.passMs);
        const { rows, newestTicks } = projectRows.since(publishedTicks - validForMs);
        return publisher.publish(rows, newestTicks + validForMs - publishedTicks);
      });
      publishing = published.catch(ignore);
      return published;
    },
    withdraw: (): void => {
      projectRows.retain(() => false);
      progress.isFirst = true;
      publisher.withdraw();
      // The withdrawal waits its turn, after rows that are being published.
      publishing = publishing.then(() => (progress.isFirst ? publisher.withdraw() : undefined));
    },
    ageMs: (): number => clock.ticks() - publishedTicks,
  };
}

/** The name that stands for the whole server among the projects. No project has an empty name. */
const wholeServer = '';
/** The divisor of the budget: a sweep uses at most half of the budget. */
const shareOfBudget = 2;
/** The share of the interval over which a pass is spread. */
const spread = 0.8;
/** The maximum number of consecutive errors. After more errors, the cause is the server and not its projects. */
const maxInARow = 5;
const minPublishMs = 5000;

/** Returns all names, starting at or after the end of the last pass. */
function rotate(sortedNames: readonly string[], first: string): string[] {
  const start = sortedNames.findIndex((name) => name >= first);
  return start <= 0 ? [...sortedNames] : [...sortedNames.slice(start), ...sortedNames.slice(0, start)];
}

function ignore(): void {}
