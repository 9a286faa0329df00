import type { Api } from '../../api/client.ts';
import type { Window } from '../../api/paging.ts';
import type { Ledger } from '../../state/ledger.ts';
import { readTotal } from '../reading/window-reader.ts';
import { type Residues, toHours } from './residues.ts';

/** Reads a window whole and takes in what is new in it. */
export type ReadAgain = (window: Window) => Promise<void>;

export type Pass = {
  readonly api: Api;
  readonly project: string;
  readonly nowMs: number;
  readonly readAgain: ReadAgain;
};

/** The open windows of a comparison, the newest last. */
export type Comparison = {
  readonly isWeek: boolean;
  /** Windows with rows that are counted and not shown: they may have become readable, which no total shows. */
  readonly unshown: Window[];
  readonly open: Window[];
};

type ComparisonOptions = { readonly server: string; readonly ledger: Ledger; readonly residues: Residues };

/**
 * Compares the totals of the server with our own: of what differs both halves are compared, down to the hour that is read
 * again. One step at least is taken; what is compared by then is not compared again.
 */
export async function compare(
  pass: Pass,
  { unshown, open }: Comparison,
  { mayGoOn, ...options }: ComparisonOptions & { readonly mayGoOn: () => boolean },
): Promise<{ readonly isDone: boolean }> {
  do {
    const again = unshown.at(-1);
    const window = open.at(-1);
    if (again !== undefined) {
      await pass.readAgain(again);
      unshown.pop();
    } else if (window !== undefined) {
      const halves = await compareWindow(pass, window, options);
      open.pop();
      open.push(...halves);
    }
  } while (open.length > 0 && mayGoOn());
  return { isDone: open.length === 0 };
}

/** Compares one window with the server's count; returns the windows to compare in its place. */
async function compareWindow(
  { api, project, readAgain }: Pass,
  window: Window,
  options: ComparisonOptions,
): Promise<readonly Window[]> {
  const { residues } = options;
  const total = await readTotal(api, project, window);
  const difference = total - (await count(project, window, options));
  if (difference === residues.sum(project, window)) return [];
  const halves = halve(window);
  const hour = toHour(window.beginMs);
  if (total === 0) await noteDeleted(project, window, options);
  else if (halves !== undefined) return halves;
  else if (difference === 0) residues.set(project, hour, 0);
  else {
    await readAgain(window);
    residues.set(project, hour, (await readTotal(api, project, window)) - (await count(project, window, options)));
  }
  return [];
}

/** A deleted history leaves nothing to read. */
async function noteDeleted(project: string, window: Window, options: ComparisonOptions): Promise<void> {
  for (const hour of toHours(window)) {
    const beginMs = Math.max(hour * hourMs, window.beginMs);
    const endMs = Math.min((hour + 1) * hourMs - 1, window.endMs);
    options.residues.set(project, hour, -(await count(project, { beginMs, endMs }, options)));
  }
}

function count(project: string, window: Window, { ledger, server }: ComparisonOptions): Promise<number> {
  return ledger.countEnds(server, { projects: [project], ...window });
}

/** Two halves that meet at a whole hour; undefined for what lies within one. */
function halve({ beginMs, endMs }: Window): [Window, Window] | undefined {
  const firstHour = Math.floor(beginMs / hourMs);
  const lastHour = Math.floor(endMs / hourMs);
  if (lastHour <= firstHour) return undefined;
  const middleMs = Math.ceil((firstHour + lastHour) / 2) * hourMs;
  return [
    { beginMs: middleMs, endMs },
    { beginMs, endMs: middleMs - 1 },
  ];
}

function toHour(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs);
}

const hourMs = 3_600_000;
