import { describeFound, didYouMean } from '../../domain/complaint.ts';
import { type AddProblem, isMap, structured } from './structure.ts';
import type { ValueType } from './value-type.ts';

const endings = ['success', 'failure', 'error', 'timeout', 'cancellation', 'skip'] as const;

export type StatusMap = Readonly<Record<string, (typeof endings)[number]>>;

const maxStatuses = 100;
const maxStatusLength = 200;

/** The statuses of the service itself, whose result is fixed. */
const settled: readonly string[] = [
  'succeeded',
  'failed',
  'aborted',
  'timedout',
  'failed-with-retry',
  'retried',
  'running',
  'scheduled',
  'queued',
  'missed',
  'incomplete',
];

/** Custom statuses → endings; a flag or a variable writes them as `warning=success,held=skip`. */
export const statusMap: ValueType<StatusMap, 'plain'> = structured(
  (found, add) => {
    if (!isMap(found)) return undefined;
    const given = Object.entries(found);
    if (given.length > maxStatuses) add({ path: [], message: `holds more than ${maxStatuses} statuses` });
    return Object.fromEntries(given.slice(0, maxStatuses).flatMap(([status, ending]) => read(status, ending, add)));
  },
  {
    takes: 'a map of statuses',
    example: '{ warning: success }',
    placeholder: 'STATUS=RESULT,…',
    fromText: fromPairs,
    format: (map) => map,
    jsonSchema: {
      type: 'object',
      maxProperties: maxStatuses,
      propertyNames: { minLength: 1, maxLength: maxStatusLength, not: { enum: settled } },
      additionalProperties: { enum: endings },
    },
  },
);

function read(status: string, found: unknown, add: AddProblem): (readonly [string, StatusMap[string]])[] {
  const path = [status];
  if (status === '' || status.length > maxStatusLength)
    add({ path, message: `is not a status of 1 to ${maxStatusLength} characters`, atKey: true });
  if (settled.includes(status))
    add({
      path,
      message: 'is a built-in status',
      hint: 'only custom statuses can be mapped',
      atKey: true,
    });
  const ending = endings.find((one) => one === found);
  if (ending !== undefined) return [[status, ending]];
  const guess = typeof found === 'string' ? didYouMean(found, endings) : undefined;
  add({
    path,
    message: `takes one of ${endings.join(', ')}, found ${describeFound(found)}`,
    ...(guess === undefined ? {} : { hint: guess }),
  });
  return [];
}

function fromPairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*?)\s*=\s*(.*?)\s*$/su.exec(pair));
  if (pairs.includes(null)) return text;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}
