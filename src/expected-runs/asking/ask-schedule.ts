import type { Api } from '../../api/client.ts';
import { jobForecast, jobInfo } from '../../api/endpoints/jobs.ts';
import { type Answer, chooseHorizon, firstHorizon, mostTimes } from '../deciding/timetable.ts';
import type { WatchedJob } from '../deciding/watched-job.ts';

/** Asks when the schedule of a job starts it next; undefined where the answer has no times because something is off. */
export async function askSchedule(api: Api, job: WatchedJob, askedAtMs: number): Promise<Answer | undefined> {
  const path = { id: job.id };
  if (!(await api.supports(jobForecast))) {
    const { nextRunMs } = await api.get(jobInfo, { path });
    if (nextRunMs === undefined) return undefined;
    return { source: 'next-run', askedAtMs, untilMs: nextRunMs, timesMs: [nextRunMs] };
  }
  const horizon = job.timetable === undefined ? firstHorizon : chooseHorizon(job.timetable);
  const { timesMs } = await api.get(jobForecast, { path, query: { time: horizon.time, max: mostTimes } });
  if (timesMs === undefined) return undefined;
  const isCut = timesMs.length >= mostTimes;
  const untilMs = isCut ? (timesMs.at(-1) ?? askedAtMs) : askedAtMs + horizon.ms - edgeMs;
  return { source: 'forecast', askedAtMs, untilMs, timesMs };
}

/** The server counts the horizon by its own clock, and may cut times to whole seconds: what is due just before its end may be missing. */
const edgeMs = 30_000;
