import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createScene } from '../../test/expected-runs/scene.ts';
import { measureCost } from '../cost.ts';

const projects = 5;
const jobs = 2000;
const hours = 6;
const minuteMs = 60_000;

/** Measures two thousand scheduled jobs over eight hours of virtual time: requests, memory, and rounds. */
export async function run() {
  const collect = toCollector();
  const seconds: number[] = [];
  const scene = createScene({ around: async (read) => void seconds.push((await measureCost(read)).cpuSeconds) });
  for (let project = 0; project < projects; project++) scene.control.createProject(`project ${project}`);
  for (let index = 0; index < jobs; index++)
    scene.control.createJob(`project ${index % projects}`, {
      name: `job ${index}`,
      group: 'nightly',
      schedule: { everyMs: toEveryMs(index), offsetMs: (index % 60) * 1000 },
    });
  // The first pass over all schedules takes more than half an hour.
  collect();
  const before = process.memoryUsage().heapUsed;
  await scene.minutes(120);
  collect();
  const keptMb = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  const asked = scene.requests().length;
  seconds.splice(0);
  await scene.minutes(60 * hours);
  const requests = scene
    .requests()
    .slice(asked)
    .filter(({ path }) => /\/jobs$|\/forecast$/.test(path)).length;
  const unknown = scene.jobs().filter(({ timetable }) => timetable === undefined).length;
  await scene.stop();
  const sorted = seconds.toSorted((one, other) => one - other);
  const typicalMs = (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN) * 1000;
  const maxMs = (sorted.at(-1) ?? Number.NaN) * 1000;
  return [
    toFigure('jobs whose schedule is not known', unknown, 0, ''),
    toFigure('requests an hour for lists of jobs, forecasts and executions', requests / hours, 400, ''),
    toFigure('memory of jobs, timetables and the simulated server', keptMb, 128, ' MB'),
    toFigure('processor time of a round, typically', typicalMs, 250, ' ms'),
    toFigure('processor time of a round, at most', maxMs, 2000, ' ms'),
  ];
}

/** Half of the jobs run daily, a third hourly, and the rest every five minutes. */
function toEveryMs(index: number): number {
  if (index % 2 === 0) return 24 * 60 * minuteMs;
  return index % 3 === 0 ? 5 * minuteMs : 60 * minuteMs;
}

function toCollector(): () => void {
  setFlagsFromString('--expose-gc');
  // This cast is safe: the flag adds this function.
  return runInNewContext('gc') as () => void;
}

function toFigure(what: string, figure: number, limit: number, unit: string) {
  return {
    what,
    figure: `${figure.toFixed(1)}${unit}`,
    mustReach: `at most ${limit}${unit}`,
    reached: figure <= limit,
  };
}
