import { accelerate, countBetween, timesBetween } from '../../engine/schedule.ts';
import { averageDuration, type Job, maySchedule } from '../../world/job.ts';
import { isAnswer, openJob } from '../access.ts';
import type { Answer, ApiRequest } from '../answer.ts';
import { ok } from '../answer.ts';
import { afterNow, beforeNow, toObjectDate } from '../dates.ts';
import { badParameter } from '../errors.ts';
import { toJob } from './jobs.ts';

/**
 * job/{id}/forecast (API reference, "Jobs"): computed from the schedule, also while the server is passive. A server lists all
 * times of the span before it cuts them to `max`.
 */
export function jobForecast(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  const { world, query, nowMs, version } = request;
  const time = query.get('time') ?? '1d';
  // No other word means yes here.
  const past = query.get('past') === 'true' && version >= 32;
  const otherEnd = past ? beforeNow(time, nowMs) : afterNow(time, nowMs);
  if (otherEnd === undefined) return badParameter(request, 'api.error.parameter.invalid', 'time', time);
  const newest = version >= 48;
  const more = newest
    ? {
        projectDisableExecutions: !job.project.executionsEnabled,
        projectDisableSchedule: !job.project.scheduleEnabled,
        averageDuration: averageDuration(job),
      }
    : {};
  const { schedule } = job.definition;
  if (schedule === undefined || !maySchedule(job)) return ok({ ...toJob(request, job), ...more });
  const max = Number(query.get('max') ?? 0);
  const limit = max > 0 ? max : 10_000;
  const [fromMs, toMs] = past ? [otherEnd, nowMs] : [nowMs, otherEnd];
  const played = accelerate(schedule, world.speed);
  const times = timesBetween(played, fromMs, toMs, limit);
  // Newer releases append the runs that somebody ordered for later, whatever their times: to past times as well.
  const ordered = newest ? oneTimeRuns(request, job) : [];
  const futureScheduledExecutions = [...times, ...ordered].map((timeMs) => toObjectDate(timeMs, world.release));
  return {
    ...ok({ ...toJob(request, job), ...more, futureScheduledExecutions }),
    listed: countBetween(played, fromMs, toMs),
  };
}

function oneTimeRuns({ nowMs }: ApiRequest, { id, project }: Job): number[] {
  return [...project.open.values()].flatMap(({ job, oneTime, startedAtMs, skewMs }) =>
    job?.id === id && oneTime && startedAtMs + skewMs > nowMs ? [startedAtMs + skewMs] : [],
  );
}
