import { hourMs, minuteMs, nowMs as startMs } from './some-risks.ts';

/** A planted problem; without an end, the problem stays. */
export type Planted = {
  readonly kind:
    | 'node'
    | 'gone'
    | 'job'
    | 'child'
    | 'key'
    | 'project'
    | 'passive'
    | 'owner'
    | 'executions'
    | 'schedules';
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
};

export type VirtualJob = {
  readonly name: string;
  readonly project: string;
  readonly everyMs: number;
  readonly offsetMs: number;
  readonly durationMs: number;
  /** How much later a job starts after the change of clocks. */
  readonly shiftMs: number;
  readonly nodes: readonly string[];
  readonly owner: string;
  readonly keys: readonly string[];
  readonly children: readonly string[];
};

const dayMs = 24 * hourMs;
/** The night begins a day after the first runs of the jobs. */
export const nightMs = startMs + dayMs;

export function planJobs(draw: () => number, shiftMs: number): readonly VirtualJob[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(draw() * items.length)] as Item;
  const toJob = (name: string, everyMinutes: number, fields: Partial<VirtualJob> = {}): VirtualJob => {
    const everyMs = everyMinutes * minuteMs;
    const offsetMs = Math.floor(draw() * everyMinutes) * minuteMs;
    const durationMs = (0.02 + 0.1 * draw()) * everyMs;
    const isByClock = everyMinutes >= 120;
    const none = { project: 'pay', nodes: ['apart'], owner: 'm1', keys: [], children: [] };
    return { name, everyMs, offsetMs, durationMs, shiftMs: isByClock ? shiftMs : 0, ...none, ...fields };
  };
  const many = (count: number, make: (index: number) => VirtualJob) =>
    Array.from({ length: count }, (_none, index) => make(index));
  const someNodes = () => [...new Set([1, 2].map(() => `n${Math.floor(draw() * 10)}`))];
  return [
    ...many(40, (index) =>
      toJob(`j${index}`, pick([15, 30, 60, 120]), { nodes: someNodes(), owner: pick(['m1', 'm2']) }),
    ),
    toJob('slow', 20, { offsetMs: 0, durationMs: 26 * minuteMs }),
    // Together these jobs need more threads than there are.
    ...many(16, (index) => toJob(`c${index}`, 1440, { offsetMs: 3 * hourMs, durationMs: 5 * minuteMs, shiftMs: 0 })),
    ...many(4, (index) => toJob(`gone${index}`, pick([30, 60]), { nodes: ['g'] })),
    ...many(2, (index) => toJob(`both${index}`, 60, { nodes: ['g', 'apart'] })),
    ...many(4, (index) => toJob(`refused${index}`, pick([30, 60]), { keys: ['keys/db'] })),
    toJob('child', 15),
    ...many(4, (index) => toJob(`parent${index}`, pick([60, 120]), { children: ['child'] })),
    ...many(12, (index) => toJob(`shop${index}`, pick([5, 10, 60]), { project: 'shop', nodes: someNodes() })),
    ...['ops', 'lab'].flatMap((project) =>
      many(4, (index) => toJob(`${project}${index}`, pick([30, 60]), { project })),
    ),
  ];
}

export function plant(draw: () => number, jobs: readonly VirtualJob[]): readonly Planted[] {
  const span = () => {
    const fromMs = nightMs + Math.floor(draw() * 8) * hourMs - hourMs + 7 * minuteMs;
    return { fromMs, toMs: fromMs + (1 + Math.floor(draw() * 4)) * hourMs };
  };
  return [
    { kind: 'node', name: `n${Math.floor(draw() * 10)}`, ...span() },
    { kind: 'job', name: jobs[Math.floor(draw() * 40)]?.name ?? '', ...span() },
    { kind: 'passive', name: '', ...span() },
    { kind: 'owner', name: 'm2', ...span() },
    { kind: 'gone', name: 'g', ...span() },
    { kind: 'key', name: 'keys/db', ...span() },
    { kind: 'child', name: 'child', ...span() },
    { kind: 'project', name: 'shop', ...span() },
    { kind: 'executions', name: 'ops', ...span() },
    { kind: 'schedules', name: 'lab', ...span() },
  ];
}

export function harms({ kind, name }: Planted, job: VirtualJob): boolean {
  if (kind === 'passive') return true;
  if (kind === 'owner') return job.owner === name;
  if (kind === 'node') return job.nodes.includes(name);
  if (kind === 'gone') return job.nodes.every((node) => node === name);
  if (kind === 'key') return job.keys.includes(name);
  if (kind === 'project' || kind === 'executions' || kind === 'schedules') return job.project === name;
  return job.name === name || job.children.includes(name);
}

export const isMissing = ({ kind }: Planted): boolean =>
  kind === 'passive' || kind === 'owner' || kind === 'executions' || kind === 'schedules';

/** Returns how the active problems affect a run. */
export function toHarm(job: VirtualJob, holds: (one: Planted) => boolean, planted: readonly Planted[]) {
  const now = planted.filter((one) => holds(one) && harms(one, job));
  if (now.some(isMissing)) return 'missed';
  return now.length > 0 ? 'failed' : undefined;
}

export function timesOf({ everyMs, offsetMs, shiftMs }: VirtualJob, fromMs: number, toMs: number): readonly number[] {
  const times: number[] = [];
  const first = Math.floor((fromMs - startMs - offsetMs - hourMs) / everyMs);
  for (let atMs = startMs + offsetMs + first * everyMs; atMs <= toMs + hourMs; atMs += everyMs) {
    const shifted = atMs >= nightMs + 7 * hourMs ? atMs + shiftMs : atMs;
    if (shifted > fromMs && shifted <= toMs) times.push(shifted);
  }
  return times;
}
