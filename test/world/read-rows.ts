import { type Execution, startedAt } from '../../simulator/world/installation.ts';
import type { Scene } from './scene.ts';

type Row = {
  readonly id: number;
  readonly 'date-started'?: { readonly unixtime: number };
  readonly 'date-ended'?: { readonly unixtime: number };
};

/** Records the finished executions of a response. */
export function noteRead({ truth, service, time }: Scene, path: string, body: string): void {
  if (!/\/project\/[^*/]+\/executions\?/.test(path) || /[?&]max=1(&|$)/.test(path)) return;
  // This cast is safe: the simulator wrote the text.
  const { executions = [] } = JSON.parse(body) as { executions?: readonly Row[] };
  const ended = executions.filter((row) => row['date-ended'] !== undefined).filter(isTaken(path, executions));
  const byId = indexOf(service.world.history);
  for (const row of ended) {
    const startedAtMs = row['date-started']?.unixtime;
    const execution = byId.get(row.id)?.find((each) => startedAt(each) === startedAtMs);
    if (execution === undefined) continue;
    const readAt = truth.readAt.get(execution);
    if (readAt === undefined) truth.readAt.set(execution, [time.nowMs()]);
    else readAt.push(time.nowMs());
  }
}

/** Reports whether a row counts as read: the oldest second of a full page does not. */
function isTaken(path: string, rows: readonly Row[]): (row: Row) => boolean {
  const toSecond = (row: Row): number => Math.floor((row['date-ended']?.unixtime ?? Infinity) / 1000);
  const isFull = rows.length >= Number(/[?&]max=(\d+)/.exec(path)?.[1]);
  const oldest = Math.min(...rows.map(toSecond));
  return (row) => !isFull || toSecond(row) > oldest;
}

type Index = { read: number; readonly byId: Map<number, Execution[]> };

const indexes = new WeakMap<readonly Execution[], Index>();

/** Finds an execution in a history. Histories only grow, so the index is extended. */
function indexOf(history: readonly Execution[]): ReadonlyMap<number, readonly Execution[]> {
  const index: Index = indexes.get(history) ?? { read: 0, byId: new Map<number, Execution[]>() };
  indexes.set(history, index);
  for (; index.read < history.length; index.read += 1) {
    const execution = history[index.read];
    if (execution !== undefined) index.byId.set(execution.id, [...(index.byId.get(execution.id) ?? []), execution]);
  }
  return index.byId;
}
