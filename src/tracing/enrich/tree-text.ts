import { toVisible } from '../../domain/visible-text.ts';
import { conventional, own } from '../plan/attribute-names.ts';
import type { Span, Trace } from '../plan/span.ts';

/** The tree for people: a line a span, indented, with its times since the root's start, its result, and why. */
export function toTreeText({ spans }: Trace): string {
  const startMs = spans[0]?.startMs ?? 0;
  const depths = new Map<string, number>();
  return spans
    .map((span) => {
      const above = span.parentId === undefined ? undefined : depths.get(span.parentId);
      const depth = above === undefined ? 0 : above + 1;
      depths.set(span.id, depth);
      return `${'  '.repeat(depth)}${toQueueOrder(span, startMs)}\n`;
    })
    .join('');
}

function toQueueOrder({ name, attributes, startMs, endMs, why }: Span, zeroMs: number): string {
  const id = attributes[conventional.taskRunId];
  const result = attributes[conventional.result] ?? attributes[conventional.taskResult];
  const words = [
    toVisible(name),
    ...(id === undefined ? [] : [`(${toVisible(String(id))})`]),
    `${startMs - zeroMs}..${endMs - zeroMs}`,
    ...[result, attributes[conventional.errorType]].filter((word) => word !== undefined),
    ...marks.flatMap(([attribute, word]) => toMark(attributes[attribute], word)),
  ];
  return `${words.join(' ')} - ${why}`;
}

const marks = [
  [own.handler, 'handler'],
  [own.nodeOutcome, 'nodes'],
  [own.notStarted, 'not-started'],
  [own.clamped, 'clamped'],
  [own.endInferred, 'end-inferred'],
  [own.truncated, 'truncated'],
  [own.degraded, 'degraded'],
] as const;

function toMark(value: string | number | boolean | undefined, word: string): readonly string[] {
  if (value === undefined) return [];
  return [value === true ? `[${word}]` : `[${word} ${value}]`];
}
