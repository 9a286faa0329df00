import type { JobFacts } from '../../domain/job.ts';
import { deletedJob, otherJobs } from './naming.ts';
import { type Cell, toJobKey } from './totals.ts';

/** Three kinds of slots: jobs with their own series, jobs with their own durations, nodes with their own series. */
const slotKinds = ['jobs', 'durations', 'nodes'] as const;
export type SlotKind = (typeof slotKinds)[number];

/** The number of slots of each kind. A long name takes more than one slot. */
export type Room = Readonly<Record<SlotKind, number>>;

/** The slots of the jobs and nodes with their own series: first come, first served, until `leave`. */
export type SeriesSlots = ReturnType<typeof createSeriesSlots>;

/** All totals of one server; cells are replaced after each commit. */
export type Totals = {
  readonly cells: Map<string, Cell>;
  readonly jobs: Map<string, JobFacts>;
  readonly slots: SeriesSlots;
};

export type Claims = ReturnType<typeof createClaims>;

/** Creates the slots. The given cells and jobs already have slots. */
export function createSeriesSlots(cells: Iterable<Cell>, jobs: ReadonlyMap<string, JobFacts> = new Map()) {
  const taken = toHolders();
  const refused = toSets();
  let room: Room = { jobs: unlimited, durations: unlimited, nodes: unlimited };
  for (const { kind, labels } of cells) {
    const [project = '', second = '', third = ''] = labels;
    if (kind === 'node-failures' && second !== otherJobs) taken.nodes.add(toNodeKey(project, second));
    if ((kind !== 'runs' && kind !== 'durations') || isNoJob(third)) continue;
    const key = toJobKey(project, second, third);
    const place = kind === 'runs' ? 'jobs' : 'durations';
    const { leftOut } = jobs.get(key) ?? {};
    if (leftOut === 'all' || leftOut === place) refuse(place, key);
    else taken[place].add(key);
  }

  function refuse(kind: SlotKind, key: string): void {
    if (refused[kind].size < maxRefused) refused[kind].add(key);
  }

  return {
    has: (kind: SlotKind, key: string): boolean => taken[kind].has(key),
    room: (): Room => room,
    taken: (): Room => toRoom((kind) => taken[kind].weight()),
    /** Sets the number of slots. If there are more owners than slots, owners keep their slots until `leave`. */
    setRoom: (next: Room): void => {
      room = next;
    },
    /** Returns the slots as seen by one change or one scrape. New claims take effect only in `settle`. */
    claim: (): Claims => createClaims(taken, room),
    /** Takes the slots that a committed change claimed, and counts refused claims. */
    settle: (claims: Claims): void => {
      for (const kind of slotKinds) {
        for (const key of claims.claimed[kind]) {
          taken[kind].add(key);
          refused[kind].delete(key);
        }
        for (const key of claims.refused[kind]) refuse(kind, key);
      }
    },
    /** Removes the slot of an owner because the number of slots became smaller. */
    leave: (kind: SlotKind, key: string): void => {
      if (taken[kind].delete(key)) refuse(kind, key);
    },
    forgetJob: (key: string): void => {
      for (const kind of ['jobs', 'durations'] as const) for (const slots of [taken, refused]) slots[kind].delete(key);
    },
    forget: (project: string): void => {
      const begin = `${JSON.stringify([project]).slice(0, -1)},`;
      for (const kind of slotKinds)
        for (const slots of [taken[kind], refused[kind]])
          for (const key of slots.keys()) if (key.startsWith(begin)) slots.delete(key);
    },
    /** Counts the jobs and nodes without a slot, up to a maximum. */
    refused: (): Room => toRoom((kind) => refused[kind].size),
  };
}

/** Reports whether a label value stands for several jobs, such as `__other__`. */
export function isNoJob(name: string): boolean {
  return name === '' || name === deletedJob || name === otherJobs;
}

export function toNodeKey(project: string, node: string): string {
  return JSON.stringify([project, node]);
}

const unlimited = Number.POSITIVE_INFINITY;
/** Limits memory: users choose the names, and names may be long. */
const maxRefused = 1000;

type Sets = Readonly<Record<SlotKind, Set<string>>>;

function toSets(): Sets {
  return { jobs: new Set(), durations: new Set(), nodes: new Set() };
}

/** The owners of slots, and the number of slots that they use together. */
type Holders = Pick<Set<string>, 'has' | 'delete' | 'keys'> & {
  readonly add: (key: string) => void;
  readonly weight: () => number;
};

function createHolders(): Holders {
  const keys = new Set<string>();
  let weight = 0;
  return {
    has: (key) => keys.has(key),
    keys: () => keys.keys(),
    weight: () => weight,
    add: (key) => {
      if (!keys.has(key)) weight += toWeight(key);
      keys.add(key);
    },
    delete: (key) => {
      const isGone = keys.delete(key);
      if (isGone) weight -= toWeight(key);
      return isGone;
    },
  };
}

function toHolders(): Readonly<Record<SlotKind, Holders>> {
  return { jobs: createHolders(), durations: createHolders(), nodes: createHolders() };
}

/** Returns the number of slots that an owner needs. A long name needs more slots, because each series repeats the name. */
export function toWeight(key: string): number {
  return Math.max(1, Math.ceil((key.length * parts) / usualLength) / parts);
}

const usualLength = 96;
/** Weights are multiples of 1/16, because their sums are exact in floating point. */
const parts = 16;

function toRoom(count: (kind: SlotKind) => number): Room {
  return { jobs: count('jobs'), durations: count('durations'), nodes: count('nodes') };
}

function createClaims(taken: Readonly<Record<SlotKind, Holders>>, room: Room) {
  const claimed = toSets();
  const claimedWeight = { jobs: 0, durations: 0, nodes: 0 };
  const refused = toSets();
  return {
    claimed,
    refused,
    /** Reports whether the owner has a slot. Takes a free slot for the owner if it has no slot. */
    has: (kind: SlotKind, key: string) => {
      if (taken[kind].has(key) || claimed[kind].has(key)) return true;
      const weight = toWeight(key);
      const hasRoom = taken[kind].weight() + claimedWeight[kind] + weight <= room[kind];
      (hasRoom ? claimed : refused)[kind].add(key);
      if (hasRoom) claimedWeight[kind] += weight;
      return hasRoom;
    },
  };
}
