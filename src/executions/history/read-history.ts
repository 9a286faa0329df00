import type { Api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { Clock } from '../../domain/clock.ts';
import { toCount } from '../../domain/format.ts';
import { runLimited } from '../../domain/pause.ts';
import type { Ledger } from '../../state/ledger.ts';
import { createCountExecutions, type ExecutionsObserver } from '../ledger/count-executions.ts';
import { openLedgerCache } from '../ledger/ledger-cache.ts';
import { toNewProject, withPastRead } from '../ledger/project-state.ts';
import { toHold } from '../reading/project-reading.ts';
import { createTakeIn } from '../reading/take-in.ts';
import { createOddRows, readTotal } from '../reading/window-reader.ts';
import type { ExecutionSettings } from '../settings.ts';
import { toPage } from './pages.ts';

type HistoryOptions = {
  readonly server: string;
  readonly api: Api;
  readonly projects: readonly string[];
  readonly window: Window;
  /** Stores the executions that were read, so that reading can continue after an interruption. */
  readonly ledger: Ledger;
  readonly settings: Pick<ExecutionSettings, 'buckets' | 'isWantedJob'>;
  readonly clock: Pick<Clock, 'now' | 'ticks'>;
  /** Called with the number of executions to read. */
  readonly onTotal: (executions: number) => void;
  readonly onRead: (executions: number) => void;
};

/** Reads the executions of a window as rounds would, and stores executions that count. Returns what cannot be read. */
export async function readHistory(options: HistoryOptions): Promise<readonly string[]> {
  const { server, api, projects, window, ledger, settings, clock, onTotal, onRead } = options;
  const complaints: string[] = [];
  const cache = await openLedgerCache(ledger, server);
  const oddRows = createOddRows(silent, clock.ticks);
  let imported = 0;
  const { takeIn } = createTakeIn({
    oddRows,
    countExecutions: createCountExecutions({
      server,
      cache,
      ledger,
      rules: settings,
      isWantedJob: settings.isWantedJob,
      observe: { ...silent, imported: (executions) => (imported += executions) },
      keepMs: Number.POSITIVE_INFINITY,
      clock,
      commitHook: {
        keep: (project, runs) => {
          // Some servers cut times to whole seconds, so a window may contain the first executions of the next window.
          const within = runs.filter(({ endedAtMs }) => endedAtMs <= window.endMs);
          return [toPage(project, within)];
        },
        kept: ignore,
      },
    }),
  });

  /** Runs the work; like a round, skips a project that cannot be read. */
  async function orSkip(project: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const held = toHold(error);
      if (held === undefined || !(error instanceof ApiError)) throw error;
      complaints.push(`project ${project} is ${held}, so it is left out: ${error.message}`);
    }
  }

  let total = 0;
  await runLimited(projects, width, (project) =>
    orSkip(project, async () => {
      const executions = await readTotal(api, project, window);
      total += executions;
      if (executions === 0 || cache.states.has(project)) return;
      const state = { ...toNewProject(project, window.beginMs), aheadThroughMs: window.endMs, backlog: [window] };
      await cache.update(async () => ({ states: [state] }));
    }),
  );
  onTotal(total);
  onRead(await ledger.size(server));

  async function readProject(project: string): Promise<void> {
    let hidden = 0;
    for (;;) {
      const oldest = cache.states.get(project)?.backlog?.[0];
      if (oldest === undefined) break;
      let pages = 0;
      const { result } = await takeIn(api, {
        project,
        window: oldest,
        seenAtMs: clock.now(),
        lateBeforeMs: Number.NEGATIVE_INFINITY,
        advance: (state, rest) => withPastRead(state, oldest, rest),
        hasShown: true,
        mayGoOn: () => ++pages < maxPagesAtOnce,
      });
      hidden += result.hidden;
      onRead(await ledger.size(server));
    }
    if (hidden > 0) complaints.push(`project ${project}: ${hidden} executions are counted by the server but not shown`);
  }

  await runLimited(projects, width, (project) => orSkip(project, () => readProject(project)));
  if (imported > 0)
    complaints.push(
      `the file does not include ${toCount(imported, 'execution')} imported into the server after ending elsewhere`,
    );
  return [...complaints, ...oddRows.complaints()];
}

const width = 3;
/** Limits memory: the executions of all pages that are read at once are in memory. */
const maxPagesAtOnce = 20;

const silent: ExecutionsObserver = {
  observed: ignore,
  late: ignore,
  imported: ignore,
  unmeasured: ignore,
  skipped: ignore,
  dropped: ignore,
  unknownValue: ignore,
};

function ignore(): void {}
