import type { ReadResult } from './project-reading.ts';
import type { Running } from './running-reader.ts';

/** What the credentials may not read of the executions of one server. */
export type Sight = {
  /** `denied` where no project's running executions may be read, `unknown` until all of them have been read. */
  readonly running: 'known' | 'unknown' | 'denied';
  /** Projects whose running executions may not be read although those of others may. */
  readonly runningDenied: readonly string[];
  /** Projects whose finished executions are not all shown. */
  readonly history: readonly HiddenHistory[];
};

/** Finished executions of a project that the server counts and does not show. */
export type HiddenHistory = {
  readonly project: string;
  /** Executions of the last window that held any; undefined where the server does not even count them. */
  readonly counted: number | undefined;
  readonly readable: number;
};

/** Remembers what reads were denied, or shown less than was counted. */
export function createSight() {
  const history = new Map<string, HiddenHistory>();
  let running: Sight['running'] = 'unknown';
  let runningDenied: ReadonlySet<string> = new Set();

  return {
    noteRunning: ({ executions, denied }: Running): void => {
      running = executions === undefined ? 'unknown' : 'known';
      if (denied === 'all') running = 'denied';
      runningDenied = denied === 'all' || denied === undefined ? new Set() : denied;
    },
    noteRead: (project: string, { total, shown, isDenied }: ReadResult): void => {
      if (isDenied) history.set(project, { project, counted: undefined, readable: 0 });
      else if (total > shown) history.set(project, { project, counted: total, readable: shown });
      else history.delete(project);
    },
    mayReadRunning: (project: string): boolean => running !== 'denied' && !runningDenied.has(project),
    all: (): Sight => ({ running, runningDenied: [...runningDenied], history: [...history.values()] }),
  };
}
