import { z } from 'zod';
import { defineEndpoint, executionRead } from '../endpoint.ts';
import { flag, text } from '../lenient.ts';

/** What is taken from the end of a log: never its lines, which may hold anything. */
export type LogTail = {
  /** It is on its way; to be asked for again, though not for ever. */
  readonly isPending: boolean;
  /** The word after `Failed:` in the last error line that has one. */
  readonly failureReason: string | undefined;
};

const entry = z.object({ log: text, level: text });

/** Document B, 2.7: the last lines of a log. A log that was lost answers 200 and `error`: no lines. */
export const executionOutput = defineEndpoint({
  name: 'execution-output',
  path: 'execution/{id}/output',
  query: ['lastlines'],
  since: 14,
  allowedBy: executionRead,
  body: z
    .object({ pending: text, completed: flag, entries: z.array(z.unknown()).catch([]) })
    .transform(({ pending, completed, entries }): LogTail => {
      const lines = entries.flatMap((item) => entry.safeParse(item).data ?? []);
      const reasons = lines.flatMap(({ level, log }) => (level === 'ERROR' ? (toReason(log) ?? []) : []));
      return { isPending: pending !== undefined && completed !== true, failureReason: reasons.at(-1) };
    }),
});

function toReason(line: string | undefined): string | undefined {
  return /^Failed: ([A-Za-z]{1,60})(?::|$)/.exec(line ?? '')?.[1];
}
