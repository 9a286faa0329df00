import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { isAll } from '../support/all.ts';
import { type Child, startChild } from '../support/child.ts';

const script = fileURLToPath(new URL('../support/reloading-process.ts', import.meta.url));
const token = 'a-token-of-many-jobs';
/** The number of jobs; 5,000 on an idle machine. */
const size = Number(process.env['RELOAD_JOBS'] ?? 100);
const reloads = isAll ? 200 : 80;
const limitMs = 300_000 + size * 300;
const projects = Array.from({ length: 2 }, (_, index) => `team-${index}`);

let simulator: Simulator | undefined;
let child: Child | undefined;

afterEach(async () => {
  await child?.stop();
  await simulator?.stop();
});

/** A service with this number of jobs; their runs end on request. */
async function startService(): Promise<{ readonly url: string; readonly endAll: () => void }> {
  const { url, control } = await startSimulator({ scenario: 'empty', token }).then((started) => (simulator = started));
  for (const project of projects) {
    control.createProject(project);
    for (let job = 0; job < size / 2; job += 1)
      control.createJob(project, { name: `job-${job}`, group: 'nightly' }, `${project}-${job}`);
  }
  const endAll = (): void => {
    const nowMs = Date.now();
    for (const project of projects) {
      for (let job = 0; job < size / 2; job += 1) {
        control.addFinished(project, { jobId: `${project}-${job}`, startedAtMs: nowMs - 2000, endedAtMs: nowMs });
      }
    }
  };
  return { url, endAll };
}

describe('end-to-end, many reloads', () => {
  it(
    `uses as many resources after ${reloads} reloads as after 20: memory, descriptors and timers`,
    async () => {
      const { url, endAll } = await startService();
      const yaml = `servers: [{ name: prod, url: '${url}', token_file: TOKEN, budget: { requests_per_second: 1000, concurrency: 2 } }]
collectors: { executions: { every: 1s } }
log: { level: error }
`;
      child = startChild(process.execPath, ['--expose-gc', script, yaml, token, String(size), '20', String(reloads)]);
      await child.waitFor(/ready/, limitMs);
      endAll();
      const measured = async (reload: number): Promise<Measure> => {
        const [line] = (await child?.waitFor(new RegExp(`{"reload":${reload}.*}`), limitMs)) ?? [];
        // This cast is safe: the process prints these lines.
        return JSON.parse(line ?? '') as Measure;
      };
      const early = await measured(20);
      const late = await measured(reloads);
      expect(late.heap / early.heap).toBeLessThan(1.05);
      // A request may be in progress; a leak of one timer per reload would add 60.
      expect(late.timers - early.timers).toBeLessThan(10);
      expect(late.descriptors - early.descriptors).toBeLessThan(10);
    },
    limitMs,
  );
});

type Measure = { readonly heap: number; readonly timers: number; readonly descriptors: number };
