import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import { askDoubts } from '../../src/expected-runs/ask-doubts.ts';
import type { Doubt } from '../../src/expected-runs/deciding/doubts.ts';
import type { WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import { hourMs, job, minuteMs, nowMs } from './risks/some-risks.ts';

type Asked = { readonly endpoint: string; readonly query: Readonly<Record<string, unknown>> };

/** Sends the requests that settle the doubts; `answer` returns each response. */
async function ask(
  doubts: readonly (readonly [string, Doubt])[],
  answer: (asked: Asked) => unknown,
  ids: string[] = [],
) {
  const gap = { askedAtMs: 0, afterMs: nowMs - hourMs, throughMs: nowMs - minuteMs, likely: [] };
  const { timetable, ...untimed } = job('', []);
  const jobs = doubts.map(([id]) => ({ ...untimed, id, ...(timetable && { timetable: { ...timetable, gap } }) }));
  const all = new Map<string, WatchedJob>(jobs.map((each) => [each.id, each]));
  const asked: Asked[] = [];
  const get = async ({ name }: { name: string }, { query = {} }: { query?: Asked['query'] }) => {
    asked.push({ endpoint: name, query });
    return answer({ endpoint: name, query });
  };
  const unanswered = new Set(ids);
  const api = { get, supports: async () => true } as unknown as Api;
  const result = await askDoubts(api, {
    jobs: {
      all,
      change: async (make) => {
        for (const each of make()) all.set(each.job.id, each.job);
      },
    },
    doubts: new Map(doubts),
    unanswered,
    nowMs: () => nowMs,
    sources: () => new Map(),
  }).catch((error: unknown) => (error instanceof ApiError ? error.kind : error));
  return { result, asked, unanswered: [...unanswered], of: (id: string) => all.get(id) };
}

function refuse(kind: ErrorKind, isUnsent = false): never {
  throw new ApiError('refused', { kind, apiEndpoint: 'job-forecast', ...(isUnsent ? { unsent: true } : {}) });
}

describe('expected-runs/ask-doubts', () => {
  it.each<[string, () => unknown, string[], unknown, boolean]>([
    ['a list', () => ({ timesMs: [] }), [], true, false],
    ['no list', () => ({}), [], true, true],
    ['a timeout', () => refuse('timeout'), [], true, true],
    ['a timeout before it was sent', () => refuse('timeout', true), [], false, false],
    ['an error of the request', () => refuse('server'), [], true, true],
    ['an error of the server', () => refuse('network'), [], 'network', false],
    ['the same error again', () => refuse('network'), ['a'], true, true],
    ['an error before it was sent, again', () => refuse('network', true), ['a'], 'network', false],
  ])('decides after %s whether a gap is lost', async (...[, answer, before, result, isLost]) => {
    const found = await ask([['a', 'past']], answer, before);
    expect([found.result, found.of('a')?.timetable?.gap?.isLost === true]).toEqual([result, isLost]);
    expect(found.unanswered).toEqual(result === true ? [] : ['a']);
    expect(found.asked[0]?.query).toEqual({ time: '61n', max: 500, past: true });
  });

  it.each([
    [true, 1, 0],
    [false, 1, 1],
    [false, 0, 0],
  ])('finds whether runs are hidden: %s with a total of %d and %d rows', async (areHidden, total, rows) => {
    const items = Array.from({ length: rows }, () => ({}));
    const { of, result, asked } = await ask([['a', 'runs']], () => ({ total, items }));
    expect([result, of('a')?.runsAskedMs, of('a')?.hiddenMs]).toEqual([true, nowMs, areHidden ? nowMs : undefined]);
    expect(asked[0]?.query).toEqual({ begin: nowMs - 7 * 24 * hourMs, jobIdListFilter: ['a'], max: 1 });
  });

  it('requests thirty jobs in one turn; jobs whose requests timed out earlier come last', async () => {
    const ids = Array.from({ length: 32 }, (_, index) => `${index}`);
    const doubts = ids.map((id) => [id, 'definition'] as const);
    const { asked, of, unanswered } = await ask(doubts, () => ({ allowsSeveral: true }), ['0', 'gone']);
    expect(asked).toHaveLength(30);
    expect([of('0'), of('30'), of('31')].map((each) => each?.definition)).toEqual([
      undefined,
      { askedAtMs: nowMs, allowsSeveral: true },
      undefined,
    ]);
    expect(unanswered).toEqual(['0']);
  });

  it('keeps what was answered before a timeout', async () => {
    let count = 0;
    const answer = () => (++count > 1 ? refuse('timeout') : { allowsSeveral: true });
    const found = await ask(
      [
        ['a', 'definition'],
        ['b', 'definition'],
        ['c', 'definition'],
      ],
      answer,
    );
    expect([found.result, found.unanswered, found.asked.length]).toEqual([true, ['b'], 2]);
    expect(found.of('a')?.definition?.allowsSeveral).toBe(true);
  });
});
