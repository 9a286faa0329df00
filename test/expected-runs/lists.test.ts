import { describe, expect, it } from 'vitest';
import { createHourly, createStopping, hour } from './hourly.ts';

describe('expected-runs/lists', () => {
  it('requests the list of jobs of a project once a minute, for executions and schedules together', async () => {
    const { minutes, requests } = createHourly();
    await minutes(70);
    const before = requests().length;
    await minutes(60);
    const lists = requests()
      .slice(before)
      .filter(({ path }) => path.endsWith('/jobs'));
    expect(lists).toHaveLength(60);
  });

  it.each([
    [10, 2],
    [11, 3],
  ])('lists each of %i projects once in five minutes', async (projects, each) => {
    const { control, minutes, requests } = createStopping({});
    for (let index = 0; index < projects; index += 1) control.createProject(`p${index}`);
    await minutes(2);
    const lists = () => requests().filter(({ path }) => path.endsWith('/jobs')).length;
    const before = lists();
    await minutes(1);
    expect(lists() - before).toBe(each);
  });

  it('ends the series of a deleted project', async () => {
    const { control, minutes, shown, requests, id } = createHourly();
    control.createProject('other');
    control.createJob('other', { name: 'copy', schedule: hour });
    await minutes(10);
    control.deleteProject('pay');
    await minutes(1);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('other', '', 'copy', 13)]);
    expect(shown('schedule_missed_total')).toEqual([
      'automation_schedule_missed_total{project="other",job_group="",job_name="copy",reason="unknown"} 0',
    ]);
    const before = requests().length;
    await minutes(120);
    const asked = requests().slice(before);
    expect(asked.filter(({ path }) => path.endsWith('/pay/jobs') || path.includes(id))).toEqual([]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="other"} 0']);
  });

  it('still expects runs while a project cannot be read for some minutes', async () => {
    const { control, minutes, requests, shown, token } = createHourly();
    control.createProject('other');
    await minutes(57);
    control.addToken({ token, policy: { projects: ['other'] } });
    const before = requests().length;
    await minutes(8);
    const asked = requests().slice(before);
    expect(asked.filter(({ path }) => path.endsWith('/pay/jobs'))).toHaveLength(1);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'settle', 14)]);
    control.addToken({ token });
    await minutes(20);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 1',
    ]);
    expect(shown('schedule_missed_total')).toEqual([missed(0)]);
    control.addToken({ token, policy: { projects: ['other'] } });
    // A proxy answers instead of the server.
    control.addFault({ kind: 'status', path: '/project/pay/jobs', status: 404, body: 'not found' });
    await minutes(8);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'settle', 14)]);
  });

  it('counts no missed run of a project that is hidden for hours', async () => {
    const { control, minutes, shown, token } = createHourly();
    control.createProject('other');
    await minutes(57);
    control.setExecutionMode('passive');
    control.addToken({ token, policy: { projects: ['other'] } });
    await minutes(150);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([]);
    control.addToken({ token });
    control.setExecutionMode('active');
    await minutes(60);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'settle', 17)]);
    expect(shown('schedule_missed_total')).toEqual([missed(0)]);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 1',
    ]);
  });

  it('describes a hidden job as a job that is no longer listed', async () => {
    const { control, minutes, find, token } = createHourly();
    await minutes(70);
    control.addToken({ token, policy: { jobs: ['other'] } });
    await minutes(12);
    expect(find('pay/nightly/settle')?.why).toMatchObject({ verdict: 'unknown', next_run: undefined });
    expect(find('pay/nightly/settle')?.why.sentence).toMatch(
      /The server no longer lists the job as scheduled: .*, or is hidden from the credentials \(seen 13:11 UTC\)\..* Next run: unknown\. Fix: if the job should still run, schedule it again, /,
    );
  });

  it('counts no missed run of a job that was disabled between two lists', async () => {
    const { control, minutes, shown, requests } = createHourly({ apiVersion: 58 });
    for (const project of ['a', 'b', 'c', 'd']) control.createProject(project);
    const id = control.createJob('pay', { name: 'often', schedule: { everyMs: 60_000, offsetMs: 0 } });
    const listed = (): number => requests().filter(({ path }) => path.endsWith('/pay/jobs')).length;
    await minutes(20);
    const first = listed();
    while (listed() === first) await minutes(1);
    const before = listed();
    control.changeJob(id, { enabled: false });
    await minutes(2);
    control.changeJob(id, { enabled: true });
    expect(listed()).toBe(before);
    await minutes(30);
    expect(listed()).toBeGreaterThan(before);
    expect(shown('schedule_missed_total').filter((line) => line.includes('often'))).toEqual([
      'automation_schedule_missed_total{project="pay",job_group="",job_name="often",reason="unknown"} 0',
    ]);
    // Two times while the job was disabled, and three later times that may belong to another schedule.
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 5']);
  });

  it('uses a list that another collector read, and requests the lists of the other projects first', async () => {
    const { control, minutes, shown, readJobs, id, requests } = createHourly();
    for (const project of ['a', 'b', 'c', 'd']) control.createProject(project);
    await minutes(2);
    control.changeJob(id, { name: 'balance' });
    await readJobs('pay');
    const before = requests().length;
    await minutes(1);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'balance', 13)]);
    await minutes(3);
    const lists = requests()
      .slice(before)
      .map(({ path }) => /(\w+)\/jobs$/.exec(path)?.[1]);
    expect(lists.filter((project) => project !== undefined)).toEqual(['b', 'c', 'd', 'a']);
  });

  it('lists a project again immediately when a schedule is not found', async () => {
    const { control, minutes, outcome, jobs } = createHourly({ apiVersion: 58 });
    for (let at = 0; at < 20; at += 1) control.createProject(`p${at}`);
    const ids = Array.from({ length: 8 }, (_, at) =>
      control.createJob('pay', { name: `often${at}`, schedule: { everyMs: 20_000, offsetMs: 0 } }),
    );
    await minutes(20);
    const notes: unknown[] = [];
    for (const id of ids) {
      control.deleteJob(id);
      for (let minute = 0; minute < 7; minute += 1) {
        await minutes(1);
        notes.push(outcome());
      }
    }
    expect(notes.filter((each) => JSON.stringify(each).includes('cannot be read'))).toEqual([]);
    expect(jobs().filter(({ goneAtMs }) => goneAtMs !== undefined)).toHaveLength(8);
  });

  it('lists the other projects while one project cannot be read', async () => {
    const { control, minutes, requests } = createHourly({ apiVersion: 58 });
    for (const project of ['a', 'b', 'c', 'd']) control.createProject(project);
    await minutes(2);
    const body = '{"error":true,"errorCode":"api.error.item.unauthorized"}';
    control.addFault({ kind: 'status', path: '/pay/jobs|/job/', status: 403, body });
    await minutes(100);
    const before = requests().length;
    await minutes(20);
    const asked = requests().slice(before);
    const listsOf = (project: string) => asked.filter(({ path }) => path.endsWith(`/project/${project}/jobs`)).length;
    for (const project of ['a', 'b', 'c', 'd']) expect(listsOf(project)).toBeGreaterThan(2);
  });

  it('ends the series of an excluded project immediately', async () => {
    const leftOut = new Set<string>();
    const { minutes, shown } = createHourly({ settings: { isWantedProject: (project) => !leftOut.has(project) } });
    await minutes(2);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'settle', 13)]);
    leftOut.add('pay');
    await minutes(1);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([]);
  });

  it('stores a long list in pieces', async () => {
    let left = Number.POSITIVE_INFINITY;
    let commits = 0;
    const { control, minutes, requests, shown } = createHourly({
      apiVersion: 58,
      onCommit: () => {
        commits += 1;
        left -= 1;
        if (left < 0) throw new Error('the disk is full');
      },
    });
    const ids = Array.from({ length: 600 }, (_, index) =>
      control.createJob('pay', { name: `j${index}`, schedule: hour }),
    );
    const timesOf = (id = ''): number => requests().filter(({ path }) => path.includes(id)).length;
    await minutes(10);
    const before = timesOf(ids[0]);
    control.changeJob(ids[0] ?? '', { schedule: { everyMs: 7_200_000, offsetMs: 0 } });
    // Two commits succeed: one with the results of other polls, and one with the first piece.
    left = 2;
    await expect(minutes(1)).rejects.toThrow('the disk is full');
    expect(timesOf(ids[0])).toBe(before);
    left = Number.POSITIVE_INFINITY;
    await minutes(1);
    expect(timesOf(ids[0])).toBeGreaterThan(before);

    for (const id of ids) control.deleteJob(id);
    const countCommits = async (): Promise<number> => {
      commits = 0;
      await minutes(1);
      return commits;
    };
    expect((await countCommits()) - (await countCommits())).toBe(2);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', 'nightly', 'settle', 13)]);
  });

  it('watches a new job in the place of a deleted job', async () => {
    const { control, minutes, shown, jobs, id } = createHourly({ settings: { maxJobs: 1 } });
    await minutes(2);
    control.deleteJob(id);
    control.createJob('pay', { name: 'copy', schedule: hour });
    await minutes(2);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([next('pay', '', 'copy', 13)]);
    const [copy] = jobs().filter(({ name }) => name === 'copy');
    control.deleteJob(copy?.id ?? '');
    await minutes(2);
    // The jobs that were removed last are kept, up to the limit of watched jobs.
    expect(jobs().map(({ name }) => name)).toEqual(['copy']);
  });

  it('shows the last run of the right job after two jobs swapped their names', async () => {
    const scene = createStopping();
    scene.control.createProject('pay');
    const at = (minute: number) => ({ everyMs: hour.everyMs, offsetMs: minute * 60_000 });
    const [first, second] = [
      scene.control.createJob('pay', { name: 'first', schedule: at(10) }),
      scene.control.createJob('pay', { name: 'second', schedule: at(30) }),
    ];
    await scene.minutes(55);
    const lastOf = (path: string) => scene.find(path)?.why.last_run?.started.slice(11, 16);
    const before = { first: lastOf('pay/first'), second: lastOf('pay/second') };
    expect(before).toEqual({ first: '12:10', second: '12:30' });
    scene.control.changeJob(first, { name: 'other' });
    scene.control.changeJob(second, { name: 'first' });
    scene.control.changeJob(first, { name: 'second' });
    await scene.minutes(5);
    expect({ first: lastOf('pay/second'), second: lastOf('pay/first') }).toEqual(before);
    expect(scene.find('pay/second')?.job.lastRun?.id).toBe(scene.find('pay/second')?.why.last_run?.id);
    // One of the jobs has run under its new name.
    await scene.minutes(15);
    expect({ first: lastOf('pay/second'), second: lastOf('pay/first') }).toEqual({ first: '13:10', second: '12:30' });
    scene.control.changeJob(second, { name: 'third', group: 'moved' });
    await scene.minutes(5);
    expect(lastOf('pay/moved/third')).toBe('12:30');
  });

  it('does not judge a new job by the runs of a deleted job', async () => {
    const { control, minutes, risks, id } = createHourly();
    control.setConditions({ downNodes: ['node01'] });
    await minutes(190);
    control.setConditions({ downNodes: [] });
    expect((await risks()).troubles).toMatchObject([{ reason: 'job_failing' }]);
    control.changeJob(id, { name: 'balance' });
    await minutes(5);
    expect((await risks()).troubles).toMatchObject([{ reason: 'job_failing', firstJob: { name: 'balance' } }]);
    control.changeJob(id, { name: 'settle' });
    control.deleteJob(id);
    control.createJob('pay', { name: 'settle', group: 'nightly', schedule: hour }, 'new');
    await minutes(5);
    expect(await risks()).toMatchObject({ expected: 12, atRisk: 0, unjudged: 12 });
  });
});

const next = (project: string, group: string, name: string, atHour: number): string =>
  `automation_job_next_run_timestamp_seconds{project="${project}",job_group="${group}",job_name="${name}"} ${
    Date.UTC(2026, 0, 15, atHour) / 1000
  }`;

const missed = (count: number): string =>
  `automation_schedule_missed_total{project="pay",job_group="nightly",job_name="settle",reason="unknown"} ${count}`;
