import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../api/client.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { projectExecutions } from '../../api/endpoints/executions.ts';
import { toTime } from '../../domain/ages.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Surroundings } from '../../domain/failure-class.ts';
import { ofJobPath } from '../../domain/job.ts';
import { createQueue } from '../../domain/pause.ts';
import type { Row } from '../../metrics/family.ts';
import { createNewSeriesHold } from '../../metrics/new-series.ts';
import type { CommitHook, Ledger, LedgerDocument } from '../../state/ledger.ts';
import type { SpooledTrace } from '../../state/spool.ts';
import { type Asking, createAsking } from './asking.ts';
import { type CommonCauses, createCommonCauses } from './common-causes.ts';
import type { Reading } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import type { CommonCause } from './deciding/common-cause.ts';
import { listChanges } from './deciding/journal.ts';
import { areas as areaNames } from './deciding/kinds.ts';
import { toCauseDocument } from './documents.ts';
import { type Explanation, explainFailure, type FailedRun, findChildren } from './explain.ts';
import { changeFamilies } from './families.ts';
import { createKeptJournal, type KeptJournal, type ToSpooled } from './kept-journal.ts';
import { type Answer, createToReadings } from './readings.ts';
import { createRunNotes, type RunNotes } from './run-notes.ts';
import { createSurroundings } from './surroundings.ts';

type ChangesOptions = {
  readonly server: string;
  readonly isRestored: boolean;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly requestsPerSecond: number;
  readonly client: Client;
  readonly clock: Pick<Clock, 'awakeTicks' | 'ticks'>;
  readonly ledger: Pick<Ledger, 'load'>;
  /** Stores documents in one transaction of the ledger. The call waits while executions are being counted. */
  readonly commit: (make: () => readonly LedgerDocument[], spooled?: readonly SpooledTrace[]) => Promise<void>;
  /** Makes the events for changes in the same transaction; undefined if no events are sent. */
  readonly toSpooled?: ToSpooled | undefined;
  readonly serverNowMs: () => number;
  readonly settings: ChangesSettings;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  readonly withdraw: () => void;
};

export type ChangesSettings = {
  /** How long a new series is published as 0, so that Prometheus sees its first increase. */
  readonly holdNewSeriesMs: number;
  /** True if names of users may be stored and shown. */
  readonly namesUsers: boolean;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
};

export type Changes = {
  /** Loads the stored state. Call before executions are counted, because counted runs are compared here. */
  readonly open: () => Promise<void>;
  readonly commitHook: CommitHook;
  /** Receives the responses of all polls. `tookMs` is the duration of the request. */
  readonly receive: (answer: Answer, tookMs: number) => void;
  readonly read: (signal: AbortSignal) => Promise<{ readonly result: 'success'; readonly series: number }>;
  readonly withdraw: () => void;
  /** Returns the changes of the last 30 days, newest first. */
  readonly list: () => readonly Change[];
  /** Returns the number of changes of the last 30 days that were dropped because there were too many. */
  readonly dropped: () => number;
  /** Explains a failure as soon as its class is known. First reads things that are usually read seldom. */
  readonly explainAtOnce: (run: FailedRun, jobId: string | undefined) => Promise<Explanation>;
  readonly explain: (run: FailedRun) => Explanation;
  /** Returns the cause that most failing jobs share now; undefined if there is none. */
  readonly commonCause: () => CommonCause | undefined;
  /** Returns the keys, nodes and other things that jobs depend on. */
  readonly surroundings: () => Surroundings;
};

/** Records the journal of changes of one server by comparing each reading with the previous reading. */
export function createChanges(options: ChangesOptions): Changes {
  const { timeoutMs, client, serverNowMs, settings, withdraw } = options;
  const waiting: Reading[] = [];
  const kept = createKeptJournal({
    ...options,
    toKept: (change) => toKept(change, settings),
    onLoaded: (loaded) => causes.load(loaded),
  });
  const asking = createAsking({ ...options, areas: kept.areas });
  const named = toNamed(kept);
  const withChildren = (jobId: string | undefined, project: string): readonly string[] =>
    [jobId, ...findChildren(jobId, project, kept).values()].filter((id) => id !== undefined);
  const causes = createCommonCauses({ serverNowMs, ...named });
  const runNotes = createRunNotes({
    runs: kept.runs,
    onFirst: ({ project, jobId }) => {
      for (const id of withChildren(jobId, project)) asking.hurry(id);
    },
    onCounted: causes.note,
    namesUsers: settings.namesUsers,
    serverNowMs,
  });
  const show = createShow({ ...options, kept });

  const oneAtATime = createQueue();
  const takeWaiting = (): Promise<void> => oneAtATime(compareWaiting);

  async function compareWaiting(): Promise<void> {
    const before = new Set(kept.journal().totals.keys());
    const readings = waiting.splice(0);
    const ofRuns = runNotes.changes();
    try {
      if (readings.length + ofRuns.length > 0) await kept.take(readings, ofRuns);
      runNotes.taken(ofRuns);
    } catch (error) {
      waiting.unshift(...(readings.length > maxExact ? toLastOfEach(readings) : readings));
      throw error;
    }
    for (const key of kept.journal().totals.keys()) if (!before.has(key)) show.hold(key);
  }

  const commonCause = (): CommonCause | undefined => {
    const cause = causes.current();
    return cause && { ...cause, ...toShown(cause, settings) };
  };
  const explain = createExplain({ serverNowMs, kept, asking, causes, commonCause });

  return {
    open: kept.open,
    commitHook: runNotes.commitHook,
    receive: createReceive({ ...options, kept, asking, runNotes, waiting }),
    read: async (signal) => {
      await kept.open();
      // Stores recent readings before the first request, because the server may not respond.
      await takeWaiting();
      await asking.read(client.within({ lane: 'enrichment', forMs: timeoutMs, signal }), signal);
      await takeWaiting();
      const before = causes.current();
      causes.update(listChanges(kept.journal(), serverNowMs()));
      if (!isDeepStrictEqual(causes.current(), before)) await options.commit(() => [toCauseDocument(causes.current())]);
      return { result: 'success', series: await show.all(commonCause(), causes.covered()) };
    },
    explainAtOnce: async (run, jobId) => {
      await kept.open();
      const api = client.within({ lane: 'enrichment', forMs: timeoutMs });
      await asking.readFor(api, withChildren(jobId, run.project), run.failureClass === 'access');
      await takeWaiting();
      return explain(run);
    },
    explain,
    commonCause,
    surroundings: createSurroundings({ kept, cause: commonCause, memberName: named.memberName }),
    withdraw,
    list: () => listChanges(kept.journal(), serverNowMs()),
    dropped: () => kept.journal().dropped,
  };
}

type Explaining = Pick<Changes, 'commonCause'> & {
  readonly serverNowMs: () => number;
  readonly kept: KeptJournal;
  readonly asking: Pick<Asking, 'refusalOf'>;
  readonly causes: Pick<CommonCauses, 'covers'>;
};

function createExplain({ serverNowMs, kept, asking, causes, commonCause }: Explaining): Changes['explain'] {
  return (run) => {
    const explanation = explainFailure(run, {
      ...kept,
      changes: listChanges(kept.journal(), serverNowMs()),
      refusalOf: asking.refusalOf,
      toTime: (atMs) => toTime(atMs, serverNowMs()),
    });
    const isShared = causes.covers({ job: `${run.project}/${run.job}`, startedAtMs: run.startedAtMs });
    return { ...explanation, commonCause: isShared ? commonCause() : undefined };
  };
}

type Showing = Pick<ChangesOptions, 'everyMs' | 'clock' | 'settings' | 'publish'> & { readonly kept: KeptJournal };

/** Publishes the counts of changes and the common cause of failures. */
function createShow({ everyMs, clock, settings, publish, kept }: Showing) {
  const newSeries = createNewSeriesHold(settings.holdNewSeriesMs);
  const held = new Set<string>();
  return {
    /** Publishes a new count as 0 until scrapes have read the 0. */
    hold: (key: string): void => void held.add(key),
    all: (cause: CommonCause | undefined, covered: readonly string[]): Promise<number> => {
      for (const key of newSeries.due(clock.awakeTicks())) held.delete(key);
      const rows = [...kept.journal().totals].flatMap(([key, { project, kind, count }]) =>
        changeFamilies.changes.rows(held.has(key) ? 0 : count, { project, kind }),
      );
      newSeries.noteShown(held, clock.awakeTicks());
      if (cause !== undefined) rows.push(...changeFamilies.commonCause.rows(1, toShown(cause, settings)));
      for (const { project, group, name } of covered.map(ofJobPath))
        rows.push(...changeFamilies.jobOfCause.rows(1, { project, job_group: group, job_name: name }));
      return publish(rows, Math.max(3 * everyMs, minValidMs));
    },
  };
}

type ReceiveOptions = Pick<ChangesOptions, 'client' | 'serverNowMs' | 'settings'> & {
  readonly kept: KeptJournal;
  readonly asking: Asking;
  readonly runNotes: RunNotes;
  /** Readings that wait for the next run. */
  readonly waiting: Reading[];
};

function createReceive({
  client,
  serverNowMs,
  settings,
  kept,
  asking,
  runNotes,
  waiting,
}: ReceiveOptions): Changes['receive'] {
  const toReadings = createToReadings();
  return (answer, tookMs) => {
    const hash = kept.hash();
    // Readings that arrive before the stored state is loaded are dropped; they will be requested again.
    if (hash === undefined) return;
    if (answer.endpoint.name === projectExecutions.name) {
      // This cast is safe: the endpoint was compared.
      runNotes.receive((answer.answer as Listed).origins, hash);
      return;
    }
    const throughMs = serverNowMs();
    const { namesUsers } = settings;
    const known = { areas: kept.areas, hash, namesUsers, release: () => client.facts().release };
    for (const { folders, ...seen } of toReadings(answer, known)) {
      asking.noteHeard(seen.area, folders);
      waiting.push({ ...seen, fromMs: throughMs - tookMs, throughMs });
    }
    // Dropped changes are found later, and dated less exactly.
    if (waiting.length > maxWaiting) waiting.splice(0, waiting.length - maxWaiting);
  };
}

/**
 * Returns the last reading of each area. Earlier readings are dropped, because they are large and the state may be
 * unavailable for hours.
 */
function toLastOfEach(readings: readonly Reading[]): Iterable<Reading> {
  const toKey = ({ area, isPart, things }: Reading): string => JSON.stringify([area, isPart && [...things.keys()]]);
  return new Map(readings.map((reading) => [toKey(reading), reading])).values();
}

type Listed = typeof projectExecutions extends Endpoint<infer Answered> ? Answered : never;

function toShown(
  { kind, subject }: CommonCause,
  { namesUsers }: ChangesSettings,
): Pick<CommonCause, 'kind' | 'subject'> {
  return { kind, subject: kind === 'user' && !namesUsers ? '' : subject };
}

function toNamed({ areas, jobOf }: Pick<KeptJournal, 'areas' | 'jobOf'>) {
  const toList = (text = ''): readonly string[] => (text === '' ? [] : text.split('\n'));
  return {
    namedBy: (jobId: string) => {
      const definition = areas.get(areaNames.definitionOf(jobId))?.things.get('');
      if (definition === undefined) return undefined;
      const children = toList(definition['.children']).map((child) => {
        const job = jobOf(child);
        return job === undefined ? child : `${job.project}/${job.path}`;
      });
      return { keys: toList(definition['.keys']), children };
    },
    memberName: (uuid: string) => areas.get(areaNames.server)?.things.get(uuid)?.['.name'] ?? uuid,
  };
}

function toKept(change: Change, settings: ChangesSettings): Change | undefined {
  const { kind, project, subject } = change;
  if (project !== '' && !settings.isWantedProject(project)) return undefined;
  return ofJobs.has(kind) && !settings.isWantedJob(subject) ? undefined : change;
}

const ofJobs = new Set<Change['kind']>(['definition', 'job', 'switch', 'owner', 'run']);
const minValidMs = 60_000;
const maxWaiting = 1000;
const maxExact = 200;
