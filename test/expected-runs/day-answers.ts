import type { Api } from '../../src/api/client.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { jobForecast, jobInfo } from '../../src/api/endpoints/jobs.ts';
import { timeAfter, timesWithin } from './day-schedules.ts';
import { type Day, isIn, minuteMs, ruleAt } from './day-world.ts';

/**
 * Returns the answers about the jobs of a day, by the schedules at that moment. All runs are visible, and no job allows several at once.
 */
export function answerFor({ jobs, originMs }: Day, nowMs: () => number): Api {
  const told: unknown[] = [{ total: 0, items: [], oddRows: [] }, { allowsSeveral: false }];
  const get = async (endpoint: { readonly name: string }, input: Input): Promise<unknown> => {
    const job = jobs.find(({ id }) => id === input.path.id);
    if (endpoint.name === projectExecutions.name) return told[0];
    if (job === undefined || (endpoint.name !== jobInfo.name && endpoint.name !== jobForecast.name)) return told[1];
    const atMs = nowMs();
    const rule = ruleAt(job, atMs);
    if (isIn(job.off, atMs)) return {};
    if (endpoint.name === jobInfo.name) return { nextRunMs: timeAfter(rule, originMs, atMs) };
    const { time = '', max = 0, past = false } = input.query ?? {};
    const spanMs = Number.parseInt(time, 10) * minuteMs;
    const window = past ? { fromMs: atMs - spanMs, toMs: atMs } : { fromMs: atMs, toMs: atMs + spanMs };
    return { timesMs: timesWithin(rule, originMs, window).slice(0, max) };
  };
  const getTimed = async (...asked: Parameters<typeof get>) => ({ answer: await get(...asked), tookMs: 1 });
  return { get, getTimed, supports: async () => true } as object as Api;
}

type Input = {
  readonly path: { readonly id?: string };
  readonly query?: { readonly time?: string; readonly max?: number; readonly past?: boolean };
};
