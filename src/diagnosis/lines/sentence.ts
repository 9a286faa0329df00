import { toDuration, toTime } from '../../domain/ages.ts';
import type { FirstCause, Seen } from '../../domain/failure-class.ts';
import { toCount } from '../../domain/format.ts';

type Failed = FirstCause & {
  /** `{project}/{group}/{name}`; undefined for a command without a job. */
  readonly job: string | undefined;
  readonly endedAtMs: number;
  readonly seen?: Seen | undefined;
  readonly otherNodes?: number | undefined;
};

/** Describes a failure: `pay/nightly/settle failed at 02:04 UTC on db03: access (AuthenticationFailure), for the first time.` */
export function toSentence(failed: Failed, nowMs: number): string {
  const { job, endedAtMs, node, otherNodes = 0, failureClass, reason, seen } = failed;
  // The other nodes may have failed for other reasons.
  const others = node === undefined || otherNodes === 0 ? '' : `; ${toCount(otherNodes, 'other node')} failed too`;
  const where = node === undefined ? '' : ` on ${node}`;
  const word = reason === undefined ? '' : ` (${reason})`;
  const often = seen === undefined ? '' : `, ${toOften(seen, endedAtMs)}`;
  return `${job ?? 'The ad hoc execution'} failed at ${toTime(endedAtMs, nowMs)}${where}: ${failureClass}${word}${often}${others}.`;
}

/** Describes how often a job had failed with the same lines before a failure. */
export function toOften({ count, firstMs, beforeMs, alsoIn }: Seen, endedAtMs: number): string {
  const also = alsoIn === undefined ? '' : `, also in ${alsoIn}`;
  if (firstMs >= endedAtMs) return `for the first time${also}`;
  const before =
    beforeMs === undefined || beforeMs >= endedAtMs
      ? ''
      : `, the previous one ${toDuration(endedAtMs - beforeMs)} earlier`;
  return `${toOrdinal(count)} since ${toTime(firstMs, endedAtMs)}${before}${also}`;
}

/** Describes the first cause: `access (AuthenticationFailure), exit code 5, step 2 (Settle) on db03`. */
export function toCauseText({ failureClass, reason, exitCode, node, step }: FirstCause): string {
  const word = reason === undefined ? '' : ` (${reason})`;
  const code = exitCode === undefined ? [] : [`exit code ${exitCode}`];
  const where = [...(step === undefined ? [] : [`step ${step}`]), ...(node === undefined ? [] : [`on ${node}`])];
  return [`${failureClass}${word}`, ...code, ...(where.length === 0 ? [] : [where.join(' ')])].join(', ');
}

function toOrdinal(count: number): string {
  const ending = { one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' }[ordinals.select(count)];
  return `${count}${ending}`;
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
