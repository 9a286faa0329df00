import type { SpanRow } from './past-execution.ts';

/** The first that failed by itself, and not because of what is below it. */
export function findFirstFailed(spans: readonly SpanRow[]): SpanRow | undefined {
  return spans.find(({ depth, hasFailed }, index) => {
    if (!hasFailed || depth === 0) return false;
    for (const below of spans.slice(index + 1)) {
      if (below.depth <= depth) return true;
      if (below.hasFailed) return false;
    }
    return true;
  });
}

/** Names the step that failed first, and its node: `step 2 (Settle) on db02`; undefined if it was not a step. */
export function toPlaceOfFailure(spans: readonly SpanRow[]): string | undefined {
  const place = findPlace(spans);
  return place && `${place.step}${place.node === undefined ? '' : ` on ${place.node}`}`;
}

/** Says which step failed first, where and why: `Step 2 (Settle) failed on db02: NonZeroResultCode.` */
export function toSentenceOfFailure(spans: readonly SpanRow[]): string | undefined {
  const place = findPlace(spans);
  if (place === undefined) return undefined;
  const where = place.node === undefined ? '' : ` on ${place.node}`;
  const reason = toReasonOfFailure(spans);
  return `${place.step.replace(/^s/, 'S')} failed${where}${reason === undefined ? '' : `: ${reason}`}.`;
}

type Place = { readonly step: string; readonly node: string | undefined };

function findPlace(spans: readonly SpanRow[]): Place | undefined {
  const first = findFirstFailed(spans);
  if (first?.path === undefined) return undefined;
  if (!first.path.includes('@')) return { step: `step ${first.path}${toTitle(first)}`, node: undefined };
  const above = spans.slice(0, spans.indexOf(first)).findLast(({ depth }) => depth < first.depth);
  if (above?.path === undefined) return undefined;
  return { step: `step ${above.path}${toTitle(above)}`, node: first.name };
}

/** A step without a name of its own is called by its number. */
function toTitle({ name, path }: SpanRow): string {
  return name === `step ${path}` ? '' : ` (${name})`;
}

/** Returns the reason of the first failed step, if it gives one. */
function toReasonOfFailure(spans: readonly SpanRow[]): string | undefined {
  return /^failed, (.+)$/s.exec(findFirstFailed(spans)?.why ?? '')?.[1];
}

/** The results of OpenTelemetry's conventions in the words of the service, as on all other pages. */
const words: Readonly<Record<string, string>> = {
  success: 'succeeded',
  failure: 'failed',
  cancellation: 'aborted',
  timeout: 'timedout',
  skip: 'missed',
  error: 'other',
};

export function toWord(result: string): string {
  return Object.hasOwn(words, result) ? (words[result] ?? result) : result;
}
