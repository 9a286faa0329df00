import type { PastExecution, SpanRow } from '../../src/status/past-execution.ts';

export const startMs = Date.parse('2024-05-20T03:17:55Z');

/** A step that succeeded within its first second; the given values replace others. */
export function span(name: string, given: Partial<SpanRow> = {}): SpanRow {
  const ending = { isFitted: false, result: 'success', hasFailed: false, why: 'succeeded', remarks: [] };
  return { name, path: undefined, depth: 1, startMs, endMs: startMs + 1000, ...ending, ...given };
}

export const failure = { result: 'failure', hasFailed: true, why: 'failed, NonZeroResultCode' } as const;

/** A nightly job of two minutes that failed on one of two nodes; the given values replace others. */
export function pastExecution(given: Partial<PastExecution> = {}): PastExecution {
  const at = (from: number, to: number) => ({ startMs: startMs + from * 1000, endMs: startMs + to * 1000 });
  const why = 'the execution failed: first failure NonZeroResultCode';
  return {
    server: 'prod',
    id: 4711,
    project: 'pay',
    job: 'nightly/settle',
    traceId: 'f45e4a6a6cb0f6a2569d62819cbf45ac',
    permalink: 'https://automation.example.org/project/pay/execution/show/4711',
    attempts: [],
    facts: [
      { name: 'Average of the job', value: '110 s' },
      { name: 'Reason', value: 'NonZeroResultCode' },
    ],
    lines: [],
    areOfStep: false,
    notes: [],
    spans: [
      span('RUN pay/nightly/settle', { depth: 0, ...failure, why, ...at(0, 125) }),
      span('start wait', { result: undefined, why: 'it waited for its first step', ...at(0, 2.5) }),
      span('Build', { path: '1', ...at(2.5, 60) }),
      span('Settle', { path: '2', ...at(60, 120), ...failure, why: 'failed, NonZeroResultCode below' }),
      span('db01', { path: '2@db01', depth: 2, ...at(60, 90.04) }),
      span('db02', { path: '2@db02', depth: 2, ...at(60.5, 120), ...failure }),
      span('Tell somebody', {
        path: '2e',
        ...at(120, 125),
        remarks: ['an error handler'],
        result: 'cancellation',
        why: 'aborted',
      }),
    ],
    ...given,
  };
}

/** An execution with this many spans; every hundredth span failed. */
export function largeExecution(count: number, name = 'web'): PastExecution {
  const { spans, ...rest } = pastExecution();
  const nodes = Array.from({ length: count - 2 }, (_, index) => {
    const times = { startMs: startMs + index * 100, endMs: startMs + index * 100 + 5000 };
    return span(`${name}${index}`, {
      depth: 2,
      path: `1@web${index}`,
      ...times,
      ...(index % 100 === 99 ? failure : {}),
    });
  });
  const step = span('Restart', {
    path: '1',
    ...failure,
    why: 'failed, NonZeroResultCode below',
    endMs: startMs + 120_000,
  });
  return { ...rest, spans: [spans[0], step, ...nodes] };
}
