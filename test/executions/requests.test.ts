import { describe, expect, it, onTestFinished } from 'vitest';
import { work } from '../../simulator/scenarios/build.ts';
import { minuteMs } from '../support/durations.ts';
import { createScene, type Scene, type SceneOptions } from './scene.ts';

describe('executions/requests', () => {
  it('sends few requests for a thousand projects', async () => {
    const rounds = 160;
    const { perRound, searchRounds, activeRounds, idleMs, missing } = await watch({ rounds });
    process.stdout.write(
      `requests a round: ${perRound.toFixed(1)} over ${rounds - searchRounds} rounds, ${searchRounds} of searches apart; `,
    );
    process.stdout.write(`active within ${activeRounds} rounds, idle within ${idleMs / 1000} s\n`);
    expect(missing).toEqual([]);
    // Running executions are read by project, 25 in a round.
    expect(perRound).toBeLessThanOrEqual(55);
    expect(activeRounds).toBeLessThanOrEqual(2);
    // Each round reads an eighth of the projects.
    expect(idleMs).toBeLessThanOrEqual(2 * minuteMs);
  }, 240_000);

  it('counts executions of idle projects within the maximum delay', async () => {
    const options = { apiVersion: 14, clientVersion: 14 };
    const { perRound, activeRounds, idleMs, missing } = await watch({ rounds: 85, ...options });
    process.stdout.write(`requests a round without a hint: ${perRound.toFixed(1)}; idle within ${idleMs / 1000} s\n`);
    expect(missing).toEqual([]);
    expect(perRound).toBeLessThanOrEqual(30);
    expect(activeRounds).toBeLessThanOrEqual(2);
    expect(idleMs).toBeLessThanOrEqual(16 * minuteMs);
  }, 60_000);

  it('finds a short run in an idle project with few reads', async () => {
    const asked: string[] = [];
    const scene = await createScene({ onRequest: ({ path }) => asked.push(path) });
    onTestFinished(scene.stop);
    const { control, nowMs } = scene;
    const jobs = Array.from({ length: 60 }, (_, index) => {
      const project = `p${index}`;
      control.createProject(project);
      return { project, jobId: control.createJob(project, { name: 'short', group: '', work: work(['node01'], []) }) };
    });
    await scene.round();
    scene.pass(5000);
    for (const { project, jobId } of jobs) {
      control.addFinished(project, { jobId, startedAtMs: nowMs() - 2000, endedAtMs: nowMs() - 1000 });
    }
    // After these rounds, all projects are idle and their jobs are listed.
    await scene.rounds(40);
    const id = control.addFinished('p40', {
      jobId: jobs[40]?.jobId ?? '',
      startedAtMs: nowMs() - 2000,
      endedAtMs: nowMs() - 1000,
    });
    asked.length = 0;
    await scene.round();
    expect((await scene.ledger.find('upstream', [id])).map(({ project }) => project)).toEqual(['p40']);
    expect(asked.filter((path) => /^\/api\/47\/project\/p\d+\/executions/.test(path)).length).toBeLessThanOrEqual(12);
  }, 60_000);

  it('reads a disabled project less and less often', async () => {
    let asked = 0;
    const onRequest = ({ path }: { readonly path: string }): void => {
      if (path.includes('project/away/executions')) asked += 1;
    };
    const scene = await createScene({ onRequest, settings: { maxDelayMs: 15 * minuteMs } });
    onTestFinished(scene.stop);
    const { control } = scene;
    for (const name of ['away', 'pay']) control.createProject(name);
    await scene.rounds(4);
    control.changeProject('away', { disabled: true });
    asked = 0;
    await scene.rounds(120);
    // The wait doubles up to five minutes, so there are few requests in half an hour.
    expect(asked).toBeLessThanOrEqual(11);
    asked = 0;
    await scene.rounds(20);
    expect(asked).toBeGreaterThanOrEqual(1);
    control.changeProject('away', { disabled: false });
    await scene.rounds(21);
    control.deleteProject('away');
    await scene.rounds(120);
    control.createProject('away');
    asked = 0;
    await scene.rounds(5);
    expect(asked).toBeGreaterThanOrEqual(1);
  }, 60_000);

  it('loses no run of two very busy projects', async () => {
    const scene = await createScene();
    onTestFinished(scene.stop);
    const { control, nowMs } = scene;
    for (const project of ['steady', 'flood']) control.createProject(project);
    await scene.round();
    const rounds = 24;
    for (let count = 0; count < rounds; count += 1) {
      const endedAtMs = nowMs();
      for (let run = 0; run < 15; run += 1) finish(scene, 'steady', endedAtMs + run * 1000);
      for (let run = 0; run < 167; run += 1) finish(scene, 'flood', endedAtMs + run * 89);
      await scene.rounds(1);
    }
    await scene.rounds(3);
    const labels = 'job_group="",job_name="",status="succeeded"';
    expect(
      scene
        .shown('automation_executions_total')
        .filter((line) => line.includes('succeeded'))
        .toSorted((one, other) => one.localeCompare(other)),
    ).toEqual([
      `automation_executions_total{project="flood",${labels}} 4008`,
      `automation_executions_total{project="steady",${labels}} 360`,
    ]);
  }, 60_000);
});

const projects = 1000;
const unreadable = 200;
const active = 10;

type Run = { readonly project: string; readonly endedAtMs: number; readonly round: number; readonly isIdle: boolean };

/** Plays rounds over many projects, of which some cannot be read. */
async function watch({ rounds, ...options }: SceneOptions & { readonly rounds: number }) {
  let asked = 0;
  const onRequest = (): void => {
    asked += 1;
  };
  const scene = await createScene({
    ...options,
    settings: { maxDelayMs: 15 * minuteMs },
    threadPoolSize: 100,
    onRequest,
  });
  onTestFinished(scene.stop);
  const { control, nowMs } = scene;
  const names = Array.from({ length: projects }, (_, index) => `p${index}`);
  for (const name of names) control.createProject(name);
  control.addToken({ token: scene.simulator.token, policy: { events: names.slice(unreadable) } });
  await scene.rounds(10);
  const open = new Map<number, Run>();
  const foundBefore = new Set<string>();
  let [quietRequests, quietRounds, activeRounds, idleMs] = [0, 0, 0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const endedAtMs = nowMs() + 14_000;
    const isLast = round >= rounds - 62;
    for (let index = 0; index < active; index += 1) {
      const project = names[unreadable + index] ?? '';
      const id = finish(scene, project, endedAtMs);
      if (!isLast) open.set(id, { project, endedAtMs, round, isIdle: false });
    }
    if (round % 40 === 20 && !isLast) {
      const project = names[unreadable + 300 + round] ?? '';
      const id = finish(scene, project, endedAtMs);
      open.set(id, { project, endedAtMs, round, isIdle: true });
    }
    asked = 0;
    const isSearched = [...open.values()].some(({ isIdle }) => isIdle);
    await scene.rounds(1);
    if (asked < most && !isSearched) {
      quietRequests += asked;
      quietRounds += 1;
    }
    const known = await scene.ledger.find('upstream', [...open.keys()]);
    const foundNow = new Set<string>();
    for (const { id } of known) {
      const found = open.get(id);
      open.delete(id);
      if (found?.isIdle === true) idleMs = Math.max(idleMs, nowMs() - found.endedAtMs);
      // A first read finds that a project is active.
      else if (found !== undefined && foundBefore.has(found.project))
        activeRounds = Math.max(activeRounds, round - found.round + 1);
      if (found !== undefined) foundNow.add(found.project);
    }
    for (const project of foundNow) foundBefore.add(project);
  }
  const perRound = quietRequests / quietRounds;
  return { perRound, searchRounds: rounds - quietRounds, activeRounds, idleMs, missing: [...open.keys()] };
}

/** Only a search sends more requests. */
const most = 60;

function finish({ control }: Scene, project: string, endedAtMs: number): number {
  return control.addFinished(project, { startedAtMs: endedAtMs - 1000, endedAtMs });
}
