import { createClock } from '../../simulator/clock.ts';
import { work } from '../../simulator/scenarios/build.ts';
import { createService } from '../../simulator/simulator.ts';
import { configure, token } from '../../test/world/configured.ts';
import { createDaemon } from '../../test/world/daemon.ts';
import { createDice } from '../../test/world/dice.ts';
import { createDisk, openMemoryState } from '../../test/world/memory-state.ts';
import { createNetwork, fairWeather } from '../../test/world/network.ts';
import { birthMs } from '../../test/world/scene.ts';
import { createDaemonClock, createVirtualTime } from '../../test/world/virtual-time.ts';

const runs = Number(process.env['BENCH_RUNS'] ?? 300);
const minuteMs = 60_000;
const sizes = (process.env['BENCH_PROJECTS'] ?? '10,50,200,1000').split(',').map(Number);
const loads = sizes.flatMap((projects) => [47, 29, 14].map((apiVersion) => ({ projects, apiVersion })));

/** Measures the time from the end of a short run until it is counted, and the requests meanwhile, in virtual time. */
export async function run() {
  const rows = [];
  for (const load of loads) rows.push(await measure(load));
  return rows;
}

type Load = { readonly projects: number; readonly apiVersion: number };

async function measure({ projects, apiVersion }: Load) {
  const dice = createDice(`promptness ${projects} ${apiVersion}`);
  const time = createVirtualTime(birthMs);
  const clock = createClock(() => Math.floor(time.nowMs()), 'free');
  const service = createService({ scenario: 'empty', apiVersion, seed: 1, threadPoolSize: 100, token }, clock);
  const jobs = Array.from({ length: projects }, (_, index) => {
    const project = `p${index}`;
    service.control.createProject(project, ['node01']);
    const short = { name: 'short', group: '', work: work(['node01'], []) };
    return { project, jobId: service.control.createJob(project, short) };
  });
  let requests = 0;
  const toDispatcher = createNetwork({
    time,
    service: service.world,
    climate: { usual: { ...fairWeather, minMs: 20 }, fronts: [] },
    dice: dice.of('network'),
    onSent: () => (requests += 1),
    onEnd: () => undefined,
  });
  const hands = createDaemonClock(time, { wallOffsetMs: 0, drift: 0 }, dice.of('daemon'));
  const state = openMemoryState(createDisk(), { wait: hands.clock.nextTurn });
  const yaml = `servers: [{ name: upstream, url: 'http://service', token_file: token }]\ntraces: { enabled: off }\n`;
  const daemon = createDaemon({
    config: await configure(yaml),
    clock: hands,
    state,
    toDispatcher,
    post: { send: () => Promise.reject(new Error('no trace is sent')), close: () => undefined },
    apartMs: undefined,
    onLine: () => undefined,
  });
  daemon.start();
  await time.run(birthMs + 20 * minuteMs);

  const open = new Map<number, number>();
  const delaysMs: number[] = [];
  const requestsBefore = requests;
  const untilMs = time.nowMs() + runs * minuteMs;
  let ended = 0;
  const look = async (): Promise<void> => {
    for (const { id } of await state.ledger.find('upstream', [...open.keys()])) {
      delaysMs.push(time.nowMs() - (open.get(id) ?? 0));
      open.delete(id);
    }
  };
  for (let nextMs = time.nowMs(); time.nowMs() < untilMs || open.size > 0; ) {
    if (ended < runs && time.nowMs() >= nextMs) {
      const job = jobs[dice.between(0, projects - 1)];
      if (job === undefined) throw new Error('each project has a job');
      const endedAtMs = Math.floor(time.nowMs());
      const times = { startedAtMs: endedAtMs - 4000, endedAtMs };
      open.set(service.control.addFinished(job.project, { jobId: job.jobId, ...times }), endedAtMs);
      ended += 1;
      // A run ends once a minute on average, at random times.
      nextMs += minuteMs * -Math.log(1 - dice.next());
    }
    await time.run(time.nowMs() + 500);
    await look();
    if (time.nowMs() > untilMs + 60 * minuteMs) break;
  }
  const sorted = delaysMs.toSorted((one, other) => one - other);
  const seconds = (share: number): number => (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN) / 1000;
  const perMinute = (requests - requestsBefore) / ((time.nowMs() - birthMs) / minuteMs - 20);
  const mustBePrompt = apiVersion >= 29 && projects <= 200;
  return {
    what: `${projects} projects, API ${apiVersion}: from the end of a short run until it is counted`,
    figure: `median ${seconds(0.5).toFixed(0)} s, 95 % ${seconds(0.95).toFixed(0)} s, worst ${seconds(1).toFixed(0)} s, ${open.size} of ${runs} never; ${perMinute.toFixed(0)} requests a minute`,
    mustReach: mustBePrompt ? 'median <= 20 s, worst <= 60 s' : 'none is lost',
    reached: open.size === 0 && (!mustBePrompt || (seconds(0.5) <= 20 && seconds(1) <= 60)),
  };
}
