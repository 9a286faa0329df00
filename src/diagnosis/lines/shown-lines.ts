import type { FirstCause, LogLine } from '../../domain/failure-class.ts';
import { linesOfStep } from './choose.ts';
import { findErrorLines } from './error-lines.ts';
import { withoutAnsi } from './normalise.ts';
import { maxSecretLines, type Scrub } from './scrub.ts';
import { joinStep, type Read } from './step-log.ts';

/** The lines of a failure that may be shown and sent, and the number of omitted lines. */
export type KeptLines = {
  readonly lines: readonly LogLine[];
  /** The number of omitted lines of the step. */
  readonly leftOut: number;
  readonly removed: number;
};

/**
 * Keeps the errors and the last lines of the failed step, and as many last lines of each other node on which it failed. If the
 * log names no step, keeps lines of the whole log. Secrets are removed first.
 */
export function keepLines(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context' | 'others'>,
  scrub: Scrub,
  read: Read = {},
): KeptLines {
  const filled = lines.filter(isFilled);
  const first = read.step && { ...read.step, lines: linesOfStep(read.step.lines.filter(isFilled), cause) };
  const step = joinStep(linesOfStep(filled, cause), { ...read, step: first });
  // A line without a node counts only for the first node.
  const others = (cause.others ?? []).map((place) =>
    linesOfStep(filled, place).filter(({ node }) => node !== undefined),
  );
  const ofNodes = [step.lines, ...others].filter(({ length }) => length > 0);
  const places = ofNodes.length > 0 ? ofNodes : [filled];
  let removed = 0;
  const said = places.flatMap((ofPlace) => {
    const candidates = listCandidates(ofPlace);
    const clean = scrubAround(ofPlace, candidates, scrub);
    removed += clean.removed;
    return candidates.map(({ index, isError }) => {
      const text = shorten(clean.texts.get(index) ?? '');
      return { line: ofPlace[index], text, bytes: Buffer.byteLength(text), newer: ofPlace.length - index, isError };
    });
  });
  const kept = chooseWithin(said);
  const gaps = new Map(
    places.flatMap((ofPlace, place) => [
      ...findGaps(ofPlace, kept, place === 0 ? step.unreadAt : read.isCut === true ? 0 : undefined),
    ]),
  );
  const inOrder = [...step.lines.slice(0, step.added), ...filled];
  const all = places.reduce((sum, { length }) => sum + length, 0);
  return {
    lines: inOrder.flatMap((line) => {
      const [text, gap] = [kept.get(line), gaps.get(line)];
      return text === undefined ? [] : { ...line, text, ...(gap === undefined ? {} : { gap }) };
    }),
    leftOut: all - kept.size,
    removed,
  };
}

function isFilled({ text }: LogLine): boolean {
  return text.trim() !== '';
}

type Candidate = { readonly index: number; readonly isError: boolean };

/** Lists the last lines, and the errors before them. */
function listCandidates(lines: readonly LogLine[]): readonly Candidate[] {
  const last = Math.max(0, lines.length - maxLines);
  const errors = last === 0 ? [] : findErrorLines(lines.slice(0, lines.length - fewLast));
  const newest = lines.slice(last).map((_line, at) => ({ index: last + at, isError: false }));
  const isNew = ({ index }: Candidate): boolean => !errors.includes(index);
  return [...errors.map((index) => ({ index, isError: true })), ...newest.filter(isNew)];
}

/** Removes secrets; a private key may begin above the candidates. Searching all lines of a long step would take too long. */
function scrubAround(lines: readonly LogLine[], candidates: readonly Candidate[], scrub: Scrub) {
  const texts = new Map<number, string>();
  let removed = 0;
  const wanted = new Set<number>();
  for (const { index } of candidates)
    for (let at = Math.max(0, index - maxSecretLines); at <= index; at += 1) wanted.add(at);
  for (const span of toSpans([...wanted].sort((one, other) => one - other))) {
    const clean = scrub(
      span.map((at) =>
        withoutAnsi(lines[at]?.text ?? '')
          .replaceAll(controls, '')
          .toWellFormed(),
      ),
    );
    removed += clean.removed;
    for (const [place, at] of span.entries()) texts.set(at, clean.texts[place] ?? '');
  }
  return { texts, removed };
}

function toSpans(numbers: readonly number[]): readonly (readonly number[])[] {
  const spans: number[][] = [];
  for (const each of numbers) {
    const last = spans.at(-1);
    if (last?.at(-1) === each - 1) last.push(each);
    else spans.push([each]);
  }
  return spans;
}

type Said = {
  readonly line: LogLine | undefined;
  readonly text: string;
  readonly bytes: number;
  readonly newer: number;
  readonly isError: boolean;
};

/** Keeps errors in up to half of the room, then the newest lines. */
function chooseWithin(said: readonly Said[]): ReadonlyMap<LogLine, string> {
  const kept = new Map<LogLine, string>();
  let bytes = 0;
  const keep = (lines: readonly Said[], most: number): void => {
    for (const { line, text, bytes: size } of lines) {
      if (line === undefined || kept.has(line)) continue;
      if (kept.size === maxLines || bytes + size > most) break;
      bytes += size;
      kept.set(line, text);
    }
  };
  keep(
    said.filter(({ isError }) => isError),
    maxBytes / 2,
  );
  keep(
    said.toSorted((one, other) => one.newer - other.newer),
    maxBytes,
  );
  return kept;
}

function* findGaps(
  lines: readonly LogLine[],
  kept: ReadonlyMap<LogLine, string>,
  unreadAt: number | undefined,
): Generator<readonly [LogLine, NonNullable<LogLine['gap']>]> {
  let omitted = 0;
  let isRead = true;
  for (const [index, line] of lines.entries()) {
    if (index === unreadAt) isRead = false;
    if (!kept.has(line)) {
      omitted += 1;
      continue;
    }
    if (omitted > 0 || !isRead) yield [line, { lines: omitted, isRead }];
    [omitted, isRead] = [0, true];
  }
}

/** Control and invisible characters except tabs and line ends, and codes of character sets. In a name, they would hide a secret. */
const controls = /[^\P{Cc}\t\n](?:[()][0AB])?|[\u{AD}\u{200B}\u{2060}\u{FEFF}]/gu;

/** Shortens a line, because one long line must not use up the limit for all lines. */
function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
}

const maxLength = 2000;
const maxLines = 50;
const maxBytes = 16 * 1024;
/** The last few lines are kept in any case. */
const fewLast = 20;
