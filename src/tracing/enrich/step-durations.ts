import { addDuration, type Drift, type Shift, toCompact } from '../../domain/durations/drift.ts';
import type { Finished } from '../../domain/execution.ts';
import { toJobPath } from '../../domain/job.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { parseStepContext, toStepNames } from '../plan/step-names.ts';

const kind = 'step-durations';

/** A lasting change in the duration of a step. */
export type StepShift = Shift & { readonly step: string };

type Steps = ReadonlyMap<string, Drift>;
type Seen = Finished & { readonly project: string; readonly seenAtMs: number };
type Change = { readonly documents: readonly LedgerDocument[]; readonly done: () => void };

/** Stores the last durations of the top-level steps of jobs: a lasting change of one step may not show in the whole job. */
export function createStepDurations() {
  /** The steps by job path, sorted by the last run. */
  const jobs = new Map<string, Steps>();

  /** Returns the job to remove for a new job; undefined if all stored jobs have run recently. */
  function findSpent(endedAtMs: number): readonly string[] | undefined {
    if (jobs.size < maxJobs) return [];
    const [[oldest, steps] = ['', noSteps]] = jobs;
    return endedAtMs - toLastMs(steps) > idleMs ? [oldest] : undefined;
  }

  return {
    load: (documents: readonly LedgerDocument[]): void => {
      // This cast is safe: only `note` writes these documents.
      const found = documents.flatMap(({ kind: each, key, body = '' }) =>
        each === kind ? [[key, toSteps(JSON.parse(body) as readonly [string, Drift][])] as const] : [],
      );
      for (const [job, steps] of found.sort(([, one], [, other]) => toLastMs(one) - toLastMs(other)))
        jobs.set(job, steps);
    },
    /** Lists the lasting changes of the steps in the last successful run of a job. */
    shiftsOf: (job: string): readonly StepShift[] => {
      const steps = jobs.get(job) ?? noSteps;
      const lastMs = toLastMs(steps);
      return [...steps].flatMap(([step, { shift, lastMinute }]) =>
        shift === undefined || lastMinute * minuteMs < lastMs ? [] : [{ ...shift, step }],
      );
    },
    /** Returns the change to commit with the trace of an execution. Call `done` after the commit. */
    note: ({ project, job, status, endedAtMs, seenAtMs }: Seen, source: SpanSource): Change => {
      const durations = status === 'succeeded' ? readDurations(source) : noDurations;
      // The only step of a job takes as long as the job. A future-dated run would hide all later runs until its date.
      if (job?.name === undefined || durations.size < 2 || endedAtMs > seenAtMs + maxAheadMs) return noChange;
      const path = toJobPath({ project, group: job.group, name: job.name });
      const before = jobs.get(path);
      const spent = before === undefined ? findSpent(endedAtMs) : [];
      if (spent === undefined) return noChange;
      const steps = addDurations(before ?? noSteps, durations, endedAtMs);
      return {
        documents: [
          ...spent.map((key) => ({ kind, key, body: undefined })),
          { kind, key: path, body: JSON.stringify([...steps]) },
        ],
        done: () => {
          for (const each of [...spent, path]) jobs.delete(each);
          jobs.set(path, steps);
        },
      };
    },
  };
}

export type StepDurations = ReturnType<typeof createStepDurations>;

/** Reports whether a stored document has the durations of steps. Returns true for documents of other kinds. */
export function isSoundStepDurations(found: string, body: unknown): boolean {
  if (found !== kind) return true;
  return Array.isArray(body) && body.every((entry) => Array.isArray(entry) && isDrift(entry[1]));
}

function isDrift(drift: unknown): boolean {
  // This cast is safe: any object can be read as a record of unknown values.
  const { tenths, apart, lastMinute } = (drift ?? {}) as Readonly<Record<string, unknown>>;
  return Array.isArray(tenths) && Array.isArray(apart) && typeof lastMinute === 'number';
}

const maxSteps = 8;
const maxJobs = 1000;
const maxNameLength = 200;
const minuteMs = 60_000;
const maxAheadMs = 300_000;
const idleMs = 14 * 86_400_000;
const noSteps: Steps = new Map();
const noDurations: ReadonlyMap<string, number> = new Map();
const noChange: Change = { documents: [], done: () => undefined };

function toSteps(entries: readonly [string, Drift][]): Steps {
  return shareTimes(new Map(entries.map(([step, drift]) => [step, toCompact(drift)])));
}

function toLastMs(steps: Steps): number {
  return minuteMs * Math.max(0, ...[...steps.values()].map(({ lastMinute }) => lastMinute));
}

/** Returns the durations of the successful steps by name, without error handlers. */
function readDurations({ state, workflow }: SpanSource): ReadonlyMap<string, number> {
  const steps = state?.steps ?? [];
  const names = toStepNames(workflow, steps);
  const durations = new Map<string, number>();
  for (const [index, { context = '', condition, durationMs }] of steps.entries()) {
    const { number, isHandler } = parseStepContext(context)?.at(-1) ?? { number: index + 1, isHandler: false };
    if (isHandler || condition !== 'succeeded' || durationMs === undefined) continue;
    const name = (names.nameOf(number, false) ?? `step ${number}`).slice(0, maxNameLength);
    durations.set(durations.has(name) ? `${name} (step ${number})` : name, durationMs);
  }
  return durations;
}

/** Adds the durations of a run. If there are too many steps, drops steps of earlier runs first, then the shortest. */
function addDurations(before: Steps, durations: ReadonlyMap<string, number>, endedAtMs: number): Steps {
  const steps = new Map(before);
  for (const [step, durationMs] of [...durations].sort(([, one], [, other]) => other - one)) {
    if (!steps.has(step) && steps.size >= maxSteps) {
      const gone = [...steps.keys()].find((each) => !durations.has(each));
      if (gone === undefined) continue;
      steps.delete(gone);
    }
    steps.set(step, addDuration(steps.get(step), durationMs, endedAtMs));
  }
  return shareTimes(steps);
}

/** Stores equal lists of times once, because most steps of a job have the same times. */
function shareTimes(steps: Steps): Steps {
  const times = new Map([...steps.values()].map(({ apart }) => [apart.join(), apart]));
  return new Map(
    [...steps].map(([step, drift]) => [step, { ...drift, apart: times.get(drift.apart.join()) ?? drift.apart }]),
  );
}
