import type { Ledger } from '../state/ledger.ts';
import type { ProjectState } from './project-state.ts';

/** Up to where entries of a project need not be known any longer: a little at a time, since whoever waits for the database waits for all of it. */
export async function planPrune(
  ledger: Pick<Ledger, 'countEnds'>,
  server: string,
  { project, countedFromMs }: ProjectState,
  throughMs: number,
): Promise<number> {
  if (throughMs - countedFromMs < leastMs) return countedFromMs;
  let endMs = Math.min(throughMs, countedFromMs + mostMs);
  const count = (): Promise<number> =>
    ledger.countEnds(server, { projects: [project], beginMs: countedFromMs, endMs: endMs - 1 });
  while (endMs - countedFromMs > 1 && (await count()) > mostEntries) endMs = Math.ceil((countedFromMs + endMs) / 2);
  return endMs;
}

const leastMs = 60_000;
const mostMs = 3_600_000;
const mostEntries = 2000;
