import { matches, toCron } from './real-cron.ts';
import { type Finding, isUp, type JobNote, type Journal, type Recorded } from './real-journal.ts';
import type { Series } from './real-series.ts';

/** The possible decisions about one expected time; several if the notes are ambiguous. */
type Times = {
  readonly job: string;
  readonly project: string;
  readonly atMs: number;
  readonly may: ReadonlySet<string>;
  /** True if the job has been deleted or renamed since. */
  readonly isGone: boolean;
};

/** The recorder looks every 5 s, and reads definitions every 10 s. */
const blurMs = 15_000;
const marginMs = 600_000;
/** After this time, a scheduled time must be decided: its margin has passed, and schedules were read again. */
const settledMs = 1_500_000;
/** Lists of jobs are read every few minutes, so several changes in between look like one change. */
const listMs = 300_000;

/**
 * Compares the number of missed runs, by job and reason, with the notes. The least number counts the times that were
 * certainly missed for the reason; the greatest also counts the times that were possibly missed for the reason.
 */
export function judgeMisses(
  journal: Journal,
  { metrics, fromMs, nowMs }: { metrics: Series; fromMs: number; nowMs: number },
): readonly Finding[] {
  const times = listTimes(journal, { fromMs, throughMs: nowMs });
  const isSure = ({ atMs, may }: Times, outcome: string): boolean =>
    may.size === 1 && may.has(outcome) && atMs > fromMs + listMs && atMs < nowMs - settledMs;
  const wrong: string[] = [];
  const got = new Map<string, number>();
  for (const { labels, value } of metrics.of('automation_schedule_missed_total'))
    if (value > 0)
      got.set(`${toPath(labels['project'], labels['job_group'], labels['job_name'])} ${labels['reason'] ?? ''}`, value);
  const keys = new Set([...got.keys(), ...times.flatMap(({ job, may }) => [...may].map((each) => `${job} ${each}`))]);
  for (const key of keys) {
    const [job, outcome = ''] = key.split(/ (?=\S+$)/);
    if (outcome === 'ran' || outcome === 'off' || outcome === 'undecided') continue;
    const own = times.filter((time) => time.job === job);
    const least = own.filter((time) => isSure(time, outcome)).length;
    const most = own.filter(({ may }) => may.has(outcome)).length;
    const value = got.get(key) ?? 0;
    // The series of a job end when the job is gone.
    if (own.at(-1)?.isGone === true) continue;
    if (value >= least && value <= most) continue;
    const some = own.filter(({ may }) => may.has(outcome)).slice(0, 8);
    const shown = some.map(({ atMs, may }) => `${toClock(atMs)} ${[...may].join('|')}`).join(', ');
    wrong.push(`${key}: ${String(value)}, not ${String(least)} to ${String(most)}: ${shown}`);
  }
  return [
    { what: 'missed runs by job and reason', checked: times.length, wrong },
    {
      what: 'runs on schedule and undecided times, by project',
      checked: times.length,
      wrong: judgeSums(times, metrics, isSure),
    },
  ];
}

function judgeSums(
  times: readonly Times[],
  metrics: Series,
  isSure: (time: Times, outcome: string) => boolean,
): readonly string[] {
  const wrong: string[] = [];
  for (const [outcome, family] of [
    ['ran', 'automation_schedule_delay_seconds_count'],
    ['undecided', 'automation_schedule_undecided_total'],
  ] as const)
    for (const { labels, value } of metrics.of(family)) {
      const own = times.filter(({ project }) => project === labels['project']);
      const least = own.filter((time) => isSure(time, outcome)).length;
      const most = own.filter(({ may }) => may.has(outcome)).length;
      if (value < least || value > most)
        wrong.push(`${family} ${labels['project'] ?? ''}: ${String(value)}, not ${String(least)} to ${String(most)}`);
    }
  return wrong;
}

type Definition = { readonly note: JobNote; readonly fromMs: number; readonly untilMs: number };

function listTimes(journal: Journal, { fromMs, throughMs }: { fromMs: number; throughMs: number }): readonly Times[] {
  const found: Times[] = [];
  const runs = Map.groupBy(
    [...journal.executions.values()].filter(({ rows }) => rows.some(({ job }) => job !== undefined)),
    ({ rows }) => rows.find(({ job }) => job !== undefined)?.job?.id ?? '',
  );
  for (const [id, all] of Map.groupBy(journal.jobs, ({ job }) => job.id)) {
    const notes = all.filter((note, index) => !isSame(note, all[index - 1]));
    const definitions = notes.map((note, index): Definition => {
      const next = notes[index + 1];
      const startMs =
        index === 0 ? Date.parse(note.job.created) : Math.min(note.atMs, Date.parse(note.job.lastModified));
      const endMs =
        next === undefined ? findGone(journal, note) : Math.min(next.atMs, Date.parse(next.job.lastModified));
      return { note, fromMs: startMs, untilMs: endMs };
    });
    const used = new Set<number>();
    const times = definitions.flatMap((definition) =>
      listFires(definition, { fromMs, throughMs }).map((atMs) => ({ atMs, definition })),
    );
    for (const [index, { atMs, definition }] of times.entries()) {
      const lateMs = Math.min(marginMs, Math.ceil(((times[index + 1]?.atMs ?? Infinity) - atMs) / 2) - 1);
      const run = findRun(runs.get(id) ?? [], { atMs, lateMs, used });
      if (run !== undefined) used.add(run.row.id);
      const { project, job } = definition.note;
      const outcome = { journal, definition, atMs, lateMs, run, runs: runs.get(id) ?? [] };
      const path = toPath(project, job.group ?? '', job.name);
      const isGone = path !== toLastPath(journal, notes.at(-1));
      found.push({ job: path, project, atMs, may: findOutcomes(outcome), isGone });
    }
  }
  return found;
}

/** Compares two notes without their times, because a restarted recorder repeats its notes. */
function isSame(one: JobNote, other: JobNote | undefined): boolean {
  return other !== undefined && JSON.stringify(withoutTime(one)) === JSON.stringify(withoutTime(other));
}

function withoutTime({ atMs: _at, ...note }: JobNote): object {
  return note;
}

function findRun(
  runs: readonly Recorded[],
  { atMs, lateMs, used }: { atMs: number; lateMs: number; used: ReadonlySet<number> },
): Recorded | undefined {
  return runs.find(({ row }) => {
    const startMs = row['date-started'].unixtime;
    const isFirst = row.executionType === 'scheduled' && (row.retryAttempt ?? 0) < 1;
    return isFirst && !used.has(row.id) && startMs >= atMs - 5000 && startMs <= atMs + lateMs;
  });
}

type Outcome = {
  readonly journal: Journal;
  readonly definition: Definition;
  readonly atMs: number;
  readonly lateMs: number;
  readonly run: Recorded | undefined;
  readonly runs: readonly Recorded[];
};

function findOutcomes({ journal, definition, atMs, lateMs, run, runs }: Outcome): ReadonlySet<string> {
  const { note, fromMs, untilMs } = definition;
  const may = new Set<string>();
  const isNearEdit = atMs - fromMs < listMs || untilMs - atMs < listMs + lateMs;
  if (isNearEdit) may.add('undecided').add('off');
  if (run !== undefined) return may.add('ran');
  const { job } = note;
  if (!job.enabled || !job.scheduleEnabled) {
    may.add('off');
    if (atMs - fromMs < Math.max(marginMs, blurMs)) may.add('job_disabled');
    return may;
  }
  if (isNearEdit) may.add('job_disabled');
  for (const reason of findReasons(journal, { note, atMs, lateMs, runs })) may.add(reason);
  return may;
}

type Question = {
  readonly note: JobNote;
  readonly atMs: number;
  readonly lateMs: number;
  readonly runs: readonly Recorded[];
};

/**
 * Returns every reason that is possible according to the notes near the time. Reasons are tried in their documented
 * order, up to the first certain one.
 */
function findReasons({ readings, projects }: Journal, { note, atMs, lateMs, runs }: Question): ReadonlySet<string> {
  const may = new Set<string>();
  const near = readings.filter((each) => Math.abs(each.atMs - atMs) < blurMs);
  const isUnseen = !readings.some((each) => isUp(each) && Math.abs(each.atMs - atMs) < blurMs);
  const own = readings.filter((each) => isUp(each) && each.failed === undefined);
  const lastMs = own.findLast((each) => each.atMs <= atMs)?.atMs ?? 0;
  const firstMs = own.find((each) => each.atMs > atMs)?.atMs ?? Infinity;
  const isGap = firstMs - lastMs > 100_000;
  const decide = (reason: string, hold: readonly boolean[]): boolean => {
    if (hold.some(Boolean)) may.add(reason);
    return hold.length > 0 && hold.every(Boolean) && !isGap && !isUnseen;
  };
  // While the recorder was not running, anything may have been the cause.
  if (near.length === 0) for (const reason of ['down', 'passive', 'saturated', 'restart']) may.add(reason);
  if (isGap || isUnseen) may.add('unknown').add('restart').add('undecided');
  if (
    decide(
      'down',
      near.map(({ failed }) => failed !== undefined),
    )
  )
    return may;
  if (
    decide(
      'passive',
      near.map(({ mode, failed }) => mode === 'passive' && failed === undefined),
    )
  )
    return may;
  const switches = findSwitches(projects, note.project, atMs);
  if (
    decide(
      'executions_disabled',
      switches.map(({ executionsEnabled }) => executionsEnabled === false),
    )
  )
    return may;
  if (
    decide(
      'schedule_disabled',
      switches.map(({ scheduleEnabled }) => scheduleEnabled === false),
    )
  )
    return may;
  const busy = runs.filter(({ row }) => {
    const slackMs = 1500;
    return row['date-started'].unixtime < atMs + slackMs && row['date-ended'].unixtime > atMs - slackMs;
  });
  if (note.definition.multipleExecutions !== true && busy.length > 0) {
    may.add('overlap');
    if (!isUnseen && busy.some(({ row }) => row['date-started'].unixtime < atMs && row['date-ended'].unixtime > atMs))
      return may;
  }
  const within = readings.filter((each) => each.atMs > atMs - 20_000 && each.atMs <= atMs + Math.max(lateMs, blurMs));
  if (
    decide(
      'saturated',
      within.map(({ running = 0, threads = 1 }) => running >= threads),
    )
  )
    return may;
  const starts = new Set(near.map(({ sinceMs }) => sinceMs).filter((each) => each !== undefined));
  if (starts.size > 1) may.add('restart');
  may.add('unknown');
  return may;
}

function findSwitches(projects: Journal['projects'], project: string, atMs: number) {
  const notes = projects.filter((each) => each.project === project);
  return [notes.findLast((each) => each.atMs <= atMs - 2000), notes.findLast((each) => each.atMs <= atMs + blurMs)]
    .filter((each) => each !== undefined)
    .map(({ meta }) => meta.find(({ name }) => name === 'config')?.data ?? {});
}

function toLastPath(journal: Journal, note: JobNote | undefined): string | undefined {
  if (note === undefined || findGone(journal, note) !== Infinity) return undefined;
  return toPath(note.project, note.job.group ?? '', note.job.name);
}

/** Returns the time at which a job was first missing. */
function findGone({ projects }: Journal, { project, job, atMs }: JobNote): number {
  return (
    projects.find((each) => each.atMs > atMs && each.project === project && !each.ids.includes(job.id))?.atMs ??
    Infinity
  );
}

function listFires({ note, fromMs, untilMs }: Definition, span: { fromMs: number; throughMs: number }): number[] {
  const cron = toCron(note.definition);
  if (cron === undefined || !note.job.scheduled) return [];
  const fires: number[] = [];
  const beginMs = Math.ceil(Math.max(fromMs, span.fromMs) / 1000) * 1000;
  for (let atMs = beginMs; atMs < Math.min(untilMs, span.throughMs); atMs += 1000)
    if (matches(cron, atMs, note.definition.timeZone ?? 'UTC')) fires.push(atMs);
  return fires;
}

function toPath(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join('/');
}

function toClock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
