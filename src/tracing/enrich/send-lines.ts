import type { KeptLines } from '../../diagnosis/lines/shown-lines.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledTrace } from '../../state/spool.ts';
import { type LogRecords, toLineRecords } from '../plan/log-records.ts';
import type { Plan } from '../plan/plan-trace.ts';

/** Why log lines were not sent: too many lines of one execution, too many in one hour, or a spool that is half full. */
export const dropReasons = ['execution_limit', 'hour_limit', 'spool_full'] as const;
type DropReason = (typeof dropReasons)[number];

export type LineSending = {
  readonly spool: Pick<Spool, 'hasRoom' | 'sizeOfLogs'>;
  readonly bounds: SpoolBounds;
  readonly encode: (records: LogRecords) => Pick<SpooledTrace, 'encoding' | 'bytes'>;
  readonly maxBytesPerHour: number;
  readonly dropped: (reason: DropReason, lines: number) => void;
};

/** Makes the log records of a failure; undefined if log records are not sent. Call `done` after the commit. */
export function createSendLines(
  { encode, maxBytesPerHour, dropped, ...shared }: LineSending,
  clock: Pick<Clock, 'now' | 'ticks'>,
) {
  let sinceTicks = Number.NEGATIVE_INFINITY;
  let usedBytes: number;

  function hasBudget(bytes: number): boolean {
    if (clock.ticks() - sinceTicks >= hourMs) {
      sinceTicks = clock.ticks();
      usedBytes = 0;
    }
    return usedBytes + bytes <= maxBytesPerHour;
  }

  return async (plan: Plan, { lines, leftOut }: KeptLines): Promise<SentLines> => {
    const drop = (reason: DropReason): SentLines => ({
      sent: undefined,
      done: () => {
        dropped('execution_limit', leftOut);
        dropped(reason, lines.length);
      },
    });
    if (lines.length === 0) return { sent: undefined, done: () => dropped('execution_limit', leftOut) };
    const encoded = encode(toLineRecords({ ...plan, lines }, clock.now()));
    if (!hasBudget(encoded.bytes.length)) return drop('hour_limit');
    if (!(await hasRoomForLogs(shared))) return drop('spool_full');
    return {
      sent: { ...encoded, spans: lines.length },
      done: () => {
        usedBytes += encoded.bytes.length;
        dropped('execution_limit', leftOut);
      },
    };
  };
}

type SentLines = {
  readonly sent: Pick<SpooledTrace, 'encoding' | 'bytes' | 'spans'> | undefined;
  readonly done: () => void;
};

/** Reports whether there is room for log records. Log records may use half of the spool, so that they never displace traces. */
export async function hasRoomForLogs({ spool, bounds }: Pick<LineSending, 'spool' | 'bounds'>): Promise<boolean> {
  const half = { maxBytes: bounds.maxBytes / 2, maxTraces: bounds.maxTraces / 2 };
  if (await spool.hasRoom(half)) return true;
  const { traces, bytes } = await spool.sizeOfLogs();
  return traces < half.maxTraces && bytes < half.maxBytes;
}

const hourMs = 3_600_000;
