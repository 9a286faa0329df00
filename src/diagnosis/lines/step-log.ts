import type { LogLine } from '../../domain/failure-class.ts';

/** The first lines of a failed step, or all of them. */
export type StepLog = { readonly lines: readonly LogLine[]; readonly isWhole: boolean };

/** The lines that were read in addition to the end of a log. */
export type Read = {
  readonly step?: StepLog | undefined;
  /** True if the end is not the whole log. */
  readonly isCut?: boolean;
};

type Joined = {
  readonly lines: readonly LogLine[];
  /** The number of first lines that the end of the log does not contain. */
  readonly added: number;
  /** The line before which lines were not read. */
  readonly unreadAt?: number | undefined;
};

/** Joins the first lines of a step with the lines at the end of the log, which may overlap. */
export function joinStep(end: readonly LogLine[], { step, isCut = false }: Read): Joined {
  const first = step?.lines ?? [];
  if (step === undefined || first.length === 0) return { lines: end, added: 0, unreadAt: isCut ? 0 : undefined };
  const common = step.isWhole ? Math.min(countListed(first, end), first.length) : countCommon(first, end);
  const added = first.slice(0, first.length - common);
  const isGap = common === 0 && (!step.isWhole || (isCut && end.length > 0));
  return { lines: [...added, ...end], added: added.length, unreadAt: isGap ? added.length : undefined };
}

/** Counts the lines that the log of a step can contain. The end of a log also has the lines of the step's error handler. */
function countListed(first: readonly LogLine[], end: readonly LogLine[]): number {
  const toPlace = ({ context, node }: LogLine): string => JSON.stringify([context, node]);
  const places = new Set(first.map(toPlace));
  return end.filter((line) => places.has(toPlace(line))).length;
}

/** Returns how many lines overlap between the end of one list and the start of the other. */
function countCommon(one: readonly LogLine[], other: readonly LogLine[]): number {
  for (let count = Math.min(one.length, other.length); count > 0; count -= 1) {
    const from = one.length - count;
    if (other.slice(0, count).every((line, at) => isSame(line, one[from + at]))) return count;
  }
  return 0;
}

function isSame(line: LogLine, other: LogLine | undefined): boolean {
  return line.text === other?.text && line.atMs === other.atMs && line.level === other.level;
}
