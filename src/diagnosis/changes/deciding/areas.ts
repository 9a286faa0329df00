/** The values of one thing. Values whose names start with a dot are stored, but not compared. */
export type Fields = Readonly<Record<string, string>>;

/** Things that are read together, such as the jobs of a project, in their last known state. */
export type Area = {
  readonly things: ReadonlyMap<string, Fields>;
  readonly sinceMs: number;
  /** The start of the last request for the area. */
  readonly readMs: number;
  readonly lastReadMs?: number;
  readonly basis?: string;
  /** The time of the last change of `basis`. Values from before this time cannot be compared with later values. */
  readonly basisMs?: number;
  /** True if the last reading was empty, and so not accepted. */
  readonly isDoubted?: boolean;
};

/** The state of an area according to one response. */
export type Reading = {
  readonly area: string;
  readonly things: ReadonlyMap<string, Fields>;
  /** True if the response has only some of the things, so that missing things are not gone. */
  readonly isPart?: boolean;
  /** True if the response may be as old as an earlier reading. */
  readonly mayBeStale?: boolean;
  /** True if an empty response is accepted only when it is repeated. */
  readonly mayBeEmpty?: boolean;
  /** A condition of the values, such as the release. Values with different conditions are not compared. */
  readonly basis?: string;
  /** The server times at the start and the end of the request. */
  readonly fromMs: number;
  readonly throughMs: number;
};

export type Difference = {
  readonly id: string;
  readonly before: Fields | undefined;
  readonly after: Fields | undefined;
  /** The names of the changed values; empty for new and lost things. */
  readonly changed: readonly string[];
  readonly afterMs: number;
  readonly beforeMs: number;
};

type Noted = { readonly area: Area; readonly differences: readonly Difference[]; readonly isChanged: boolean };

/** Compares a reading with the known area. The first reading of an area has no differences. */
export function noteReading(known: Area | undefined, reading: Reading): Noted {
  const { fromMs: readMs, isPart = false, basis } = reading;
  const more = basis === undefined ? {} : { basis };
  if (known === undefined || known.basis !== basis) {
    const { sinceMs = readMs } = known ?? {};
    const basisMs = known && { basisMs: readMs };
    return { area: { things: reading.things, sinceMs, readMs, ...more, ...basisMs }, differences: [], isChanged: true };
  }
  const isDoubted = reading.mayBeEmpty === true && reading.things.size === 0 && known.things.size > 0;
  if (isDoubted && known.isDoubted !== true)
    return { area: { ...known, isDoubted }, differences: [], isChanged: false };
  const afterMs = reading.mayBeStale === true ? (known.lastReadMs ?? known.sinceMs) : known.readMs;
  const times = { afterMs: Math.min(afterMs, reading.throughMs), beforeMs: reading.throughMs };
  const things = new Map(isPart ? known.things : []);
  const differences: Difference[] = [];
  for (const [id, fields] of reading.things) {
    const before = known.things.get(id);
    // A value that is missing in the response is unknown, not removed.
    const after = before === undefined ? fields : { ...before, ...fields };
    const changed = before === undefined ? [] : listChanged(before, after);
    things.set(id, after);
    if (before === undefined || changed.length > 0) differences.push({ id, before, after, changed, ...times });
  }
  for (const [id, before] of known.things)
    if (!things.has(id)) differences.push({ id, before, after: undefined, changed: [], ...times });
  const { sinceMs, basisMs } = known;
  const area = { things, sinceMs, readMs, lastReadMs: known.readMs, ...more, ...(basisMs && { basisMs }) };
  return { area, differences, isChanged: differences.length > 0 };
}

function listChanged(before: Fields, after: Fields): string[] {
  return Object.keys(after).filter(
    (name) => !name.startsWith('.') && before[name] !== undefined && before[name] !== after[name],
  );
}
