import type { Ledger } from '../../state/ledger.ts';

/**
 * Returns the time before which entries of a project may be forgotten: a little at a time, because one long transaction holds
 * up all others.
 */
export async function planPrune(
  ledger: Pick<Ledger, 'countEnds'>,
  server: string,
  { project, fromMs }: { readonly project: string; readonly fromMs: number },
  throughMs: number,
): Promise<number> {
  if (throughMs - fromMs < leastMs) return fromMs;
  let endMs = Math.min(throughMs, fromMs + mostMs);
  const count = (): Promise<number> =>
    ledger.countEnds(server, { projects: [project], beginMs: fromMs, endMs: endMs - 1 });
  while (endMs - fromMs > 1 && (await count()) > mostEntries) endMs = Math.ceil((fromMs + endMs) / 2);
  return endMs;
}

const leastMs = 60_000;
const mostMs = 3_600_000;
const mostEntries = 2000;
