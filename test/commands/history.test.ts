import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { history } from '../../src/commands/history.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { createRoutes } from '../../src/http/server/routes.ts';
import { serve } from '../http/serve.ts';
import { startChild } from '../support/child.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type CliRun, toEnvironment } from './run-cli.ts';

const hourMs = 3_600_000;
const untilMs = Math.floor(Date.now() / hourMs) * hourMs - hourMs;
const sinceMs = untilMs - 72 * hourMs;
const toIso = (timeMs: number) => new Date(timeMs).toISOString();
const span = [`--since=${toIso(sinceMs)}`, `--until=${toIso(untilMs)}`];

const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-history-'));
let simulator: Simulator;
let requests = 0;
let refuseFrom = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  writeFileSync(
    join(dir, 'config.yaml'),
    `jobs: { top: 1 }
metrics: { automation_executions_total: { drop_labels: [status] }, automation_node_failures_total: { off: true } }
`,
  );
  simulator = await startSimulator({
    scenario: 'empty',
    retained: Number.POSITIVE_INFINITY,
    onRequest: () => {
      requests += 1;
      if (requests >= refuseFrom) simulator.control.addFault({ kind: 'status', status: 503 });
    },
  });
  const { control } = simulator;
  for (const project of ['pay', 'shop', 'idle', 'secret']) control.createProject(project, ['web01', 'web02']);
  const settle = control.createJob('pay', { name: 'settle', group: 'nightly' });
  const sync = control.createJob('shop', { name: 'sync' });
  const hidden = control.createJob('secret', { name: 'hidden' });
  const add = (project: string, jobId: string | undefined, endedAtMs: number, status = 'succeeded') =>
    control.addFinished(project, {
      ...(jobId === undefined ? {} : { jobId }),
      startedAtMs: endedAtMs - 1000 - (endedAtMs % 60_000),
      endedAtMs,
      status,
      type: 'scheduled',
    });
  // Ids grow with time, unless executions are imported.
  const runs: Parameters<typeof add>[] = [
    ...Array.from(
      { length: 12 },
      (_, at): Parameters<typeof add> => ['pay', settle, sinceMs + (1 + 6 * at) * hourMs + 90_000],
    ),
    ['pay', settle, sinceMs + 30 * hourMs, 'failed'],
    // The runs fill several pages; several begin within one second.
    ...Array.from({ length: 1200 }, (_, at): Parameters<typeof add> => {
      return ['shop', sync, sinceMs + 1 + Math.floor(at / 3) * 200_000, at % 7 === 0 ? 'failed' : 'succeeded'];
    }),
    ['secret', hidden, sinceMs + hourMs],
    ['shop', undefined, untilMs - 1],
    ['shop', undefined, untilMs],
  ];
  for (const run of runs.sort((one, other) => one[2] - other[2])) add(...run);
});

afterAll(async () => {
  await simulator.stop();
  rmSync(dir, { recursive: true, force: true });
});

const toVariables = () => ({
  ...toEnvironment(simulator),
  AUTOMATION_EXPORTER_NAME: 'prod',
  AUTOMATION_EXPORTER_LABELS: 'site=eu',
  AUTOMATION_EXPORTER_PROJECTS_EXCLUDE: 'secret',
  AUTOMATION_EXPORTER_EXECUTIONS_OVERLAP: '5s',
});

async function run(words: readonly string[], name = 'history.om'): Promise<Omit<CliRun, 'left'> & { file: string }> {
  const output = join(dir, name);
  if (!statSync(output, { throwIfNoEntry: false })?.isDirectory()) rmSync(output, { force: true });
  const said = { stdout: '', stderr: '' };
  const code = await history({
    env: toVariables(),
    arguments: parseArguments(['history', ...words, `--output=${output}`], {
      collectors,
      commandLine: { commands: commandWords, flags: commandFlags },
    }),
    version: '0.1.0',
    write: (text) => (said.stdout += text),
    complain: (text) => (said.stderr += text),
  });
  return {
    code,
    ...said,
    file: statSync(output, { throwIfNoEntry: false })?.isFile() ? readFileSync(output, 'utf8') : '',
  };
}

type Samples = ReadonlyMap<string, readonly (readonly [timeMs: number, value: number])[]>;

function read(file: string): Samples {
  const series = new Map<string, (readonly [number, number])[]>();
  for (const line of file.split('\n')) {
    const [, name = '', value, time] = /^([^#].*\}) (\S+) (\S+)$/.exec(line) ?? [];
    if (name === '') continue;
    series.set(name, [...(series.get(name) ?? []), [Number(time) * 1000, Number(value)]]);
  }
  return series;
}

function valueAt(samples: Samples, matches: RegExp, timeMs: number): number {
  const values = [...samples].flatMap(([name, all]) => {
    return matches.test(name) ? [all.findLast(([atMs]) => atMs <= timeMs)?.[1] ?? 0] : [];
  });
  return values.reduce((sum, value) => sum + value, 0);
}

/** Rounds sums, because their last digits depend on the order of addition. */
function rounded(line: string): string {
  return line.replace(/ \S+$/, (value) => ` ${Number(Number(value).toFixed(6))}`);
}

function countTrue(project: string, status: string, fromMs: number, toMs: number): number {
  return simulator.truth().executions.filter((one) => {
    const { endedAtMs = 0 } = one;
    return one.project === project && one.status === status && endedAtMs > fromMs && endedAtMs <= toMs;
  }).length;
}

describe('commands/history', () => {
  it('writes every execution once, with the labels of scrapes', async () => {
    const { code, stdout, stderr, file } = await run(['prod', ...span, '--label=job=auto', '--label', 'instance=b:1']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [reading, writing, done] = stdout.split('\n');
    expect(reading).toBe(
      `reading 1,214 executions from ${toIso(sinceMs)} to ${toIso(untilMs)}: about 3 requests, at least 1 min`,
    );
    const lines = file.split('\n').filter((line) => /^[^#]/.test(line)).length;
    expect(writing).toMatch(new RegExp(`^writing ${lines.toLocaleString('en')} lines, about \\d+(\\.\\d)? MiB, to `));
    expect(done).toMatch(/history\.om: 1,214 executions from /);
    const samples = read(file);
    for (const day of [1, 2, 3]) {
      const [fromMs, toMs] = [sinceMs + 24 * (day - 1) * hourMs, sinceMs + 24 * day * hourMs];
      for (const [project, status] of [
        ['pay', 'succeeded'],
        ['pay', 'failed'],
        ['shop', 'succeeded'],
        ['shop', 'failed'],
      ] as const) {
        for (const family of ['executions_total', 'project_executions_total', 'execution_duration_seconds_count']) {
          const matches = new RegExp(`^automation_${family}\\{.*project="${project}".*status="${status}"`);
          const counted = valueAt(samples, matches, toMs) - valueAt(samples, matches, fromMs);
          // The daemon counts executions that end exactly at the end of the span.
          expect([family, project, status, day, counted]).toEqual([
            family,
            project,
            status,
            day,
            countTrue(project, status, fromMs, day === 3 ? toMs - 1 : toMs),
          ]);
        }
      }
    }
    expect(
      [...samples.keys()].filter((name) => !name.includes('{server="prod",site="eu",job="auto",instance="b:1",')),
    ).toEqual([]);
    expect(file).not.toContain('secret');
    expect(readFileSync(join(dir, 'history.om')).subarray(-6).toString()).toBe('# EOF\n');
    expect([existsSync(join(dir, 'history.om.read')), existsSync(join(dir, 'history.om.part'))]).toEqual([
      false,
      false,
    ]);
  });

  it('writes samples every five minutes around each change, and at both ends', async () => {
    const samples = read((await run(['prod', ...span])).file);
    const [name = '', all = []] =
      [...samples].find(([one]) => /^automation_executions_total.*settle.*failed"/.test(one)) ?? [];
    const changeMs = sinceMs + 30 * hourMs;
    expect(name).not.toBe('');
    expect(all).toEqual([
      [sinceMs, 0],
      ...Array.from({ length: 25 }, (_, at) => [changeMs + (at - 12) * 300_000, at < 12 ? 0 : 1]),
      [untilMs - 1, 1],
    ]);
    for (const [one, times] of samples) {
      expect([one, times.at(0)]).toEqual([one, [sinceMs, 0]]);
      expect(times.at(-1)?.[0]).toBe(untilMs - 1);
      expect(times.every(([atMs], at) => at === 0 || atMs > (times[at - 1]?.[0] ?? 0))).toBe(true);
    }
  });

  it('writes each sample once in two files for adjacent spans', async () => {
    const middle = toIso(sinceMs + 30 * hourMs);
    const files = [
      (await run(['prod', span[0] ?? '', `--until=${middle}`])).file,
      (await run(['prod', `--since=${middle}`, span[1] ?? ''])).file,
    ].map(read);
    const failed = files.map((one) => valueAt(one, /^automation_executions_total.*settle.*failed"/, untilMs));
    expect(failed).toEqual([0, 1]);
    for (const [name, all] of files[0] ?? []) {
      const [first] = files[1]?.get(name) ?? [];
      expect([name, first?.[1] ?? 0, (first?.[0] ?? untilMs) > (all.at(-1)?.[0] ?? 0)]).toEqual([name, 0, true]);
    }
  });

  it('writes the same series and values as the daemon', async () => {
    const nowMs = Date.now();
    const daemon = await startDaemon({
      token: simulator.token,
      yaml: `
servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, labels: { site: eu }, projects: { exclude: [secret] } }]
executions: { count_from: '${toIso(sinceMs + 1)}' }
metrics: { hold_new_series: 0s }
collectors: { executions: { every: 2s } }
`,
    });
    onTestFinished(() => daemon.stop());
    const families =
      /^automation_(executions_total|project_executions_total|execution_nodes_total|node_failures_total|execution_duration_seconds_\w+)\{/;
    const { file } = await run(['prod', span[0] ?? '', `--until=${toIso(nowMs)}`, '--url=http://127.0.0.1:2']);
    const written = [...read(file)].map(([name, all]) => rounded(`${name} ${all.at(-1)?.[1]}`));
    await eventually(async () => {
      const lines = (await daemon.metrics()).split('\n').filter((line) => families.test(line));
      const total = lines.flatMap((line) => /^automation_executions_total.* (\d+)$/.exec(line)?.[1] ?? []);
      expect(total.reduce((sum, count) => sum + Number(count), 0)).toBe(1215);
      // A new series shows its first value one round later.
      expect(lines.map((line) => rounded(line)).sort()).toEqual(written.sort());
    });
    expect((await run(['prod', '--since=90h', `--url=${daemon.url}`])).stdout).toContain(` to ${toIso(sinceMs + 1)}`);
  });

  it('writes the same bytes after an interruption', async () => {
    const whole = await run(['prod', ...span], 'whole.om');
    refuseFrom = requests + 6;
    const stopped = await run(['prod', ...span], 'again.om');
    refuseFrom = Number.POSITIVE_INFINITY;
    simulator.control.clearFaults();
    expect(stopped).toMatchObject({ code: 1, file: '' });
    expect(stopped.stderr).toMatch(/HTTP 503[^]*\nThe same command continues where this one stopped\n$/);
    const again = await run(['prod', '--since=1h', `--until=${toIso(Date.now())}`], 'again.om');
    expect(again.code).toBe(0);
    expect(again.file === whole.file).toBe(true);
  });

  it('continues up to the end of the interrupted run', async () => {
    const offline = '--url=http://127.0.0.1:2';
    const start = /set executions\.count_from to (\S+)/;
    refuseFrom = requests + 6;
    const stopped = await run(['prod', '--since=90h', offline], 'offline.om');
    refuseFrom = Number.POSITIVE_INFINITY;
    simulator.control.clearFaults();
    const [, printed = ''] = start.exec(stopped.stderr) ?? [];
    expect([stopped.code, Date.parse(printed) < Date.now() - 1000]).toEqual([1, true]);
    const { url } = await serve([
      createRoutes().get('/api/status', (_request, response) => {
        response.json({ servers: [{ name: 'prod', executions: { counted_since: toIso(untilMs) } }] });
      }),
    ]);
    refuseFrom = requests + 1;
    expect((await run(['prod', '--since=90h', `--url=${url}`], 'offline.om')).stderr).toContain(
      `belongs to a run whose file ends at ${printed}, but the counters of the daemon begin at ${toIso(untilMs)}: remove it`,
    );
    refuseFrom = Number.POSITIVE_INFINITY;
    simulator.control.clearFaults();
    const again = await run(['prod', '--since=90h', offline], 'offline.om');
    expect([again.code, start.exec(again.stderr)?.[1]]).toEqual([0, printed]);
    expect(again.stdout).toContain(` to ${printed}\n`);
  });

  it('says which executions are not in the file because they were imported', async () => {
    const endedAtMs = sinceMs - 48 * hourMs;
    simulator.control.addFinished('shop', { startedAtMs: endedAtMs - 1000, endedAtMs, status: 'succeeded' });
    const { stdout, stderr } = await run(['prod', `--since=${toIso(endedAtMs)}`, `--until=${toIso(untilMs)}`]);
    expect(stdout).toMatch(/history\.om: 1,214 executions from /);
    expect(stderr).toContain('the file does not include 1 execution imported into the server after ending elsewhere');
  });

  it('includes executions that the server shows late', async () => {
    const times = { startedAtMs: Date.now() - 2000, endedAtMs: Date.now() - 1000 };
    setTimeout(() => simulator.control.addFinished('idle', { ...times, status: 'succeeded' }), 4000);
    const { file } = await run(['prod', '--since=1h', '--until=0s']);
    expect(valueAt(read(file), /^automation_executions_total.*idle/, Date.now())).toBe(1);
  });

  it('does not treat a file as complete if the disk is full', async () => {
    const { file } = await run(['prod', ...span]);
    const output = join(dir, 'short.om');
    const shell = ['-c', `ulimit -f ${Math.ceil(file.length / 1024) - 1} && exec "$@"`, 'bash', process.execPath];
    const words = ['history', 'prod', ...span, `--output=${output}`];
    const child = startChild('bash', [...shell, 'src/cli.ts', ...words], { env: toVariables() });
    expect(await child.ended).toMatchObject({ code: 1 });
    expect(existsSync(output)).toBe(false);
  });

  it('refuses to replace something that is not a file', async () => {
    mkdirSync(join(dir, 'folder.om'));
    requests = 0;
    expect(await run(['prod', ...span], 'folder.om')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `history: --output: ${join(dir, 'folder.om')} exists and is not a file; name another\n`,
    });
    expect([requests, existsSync(join(dir, 'folder.om.read'))]).toEqual([0, false]);
  });

  it('counts jobs without duration series together', async () => {
    const { file, stderr } = await run(['prod', ...span, `--config.file=${join(dir, 'config.yaml')}`]);
    expect(stderr).toBe('');
    const samples = read(file);
    const durations = /^automation_execution_duration_seconds_count/;
    const owners = [...samples.keys()].flatMap((name) =>
      durations.test(name) ? [/project="(\w+)".*job_name="(\w*)"/.exec(name)?.slice(1).join('/')] : [],
    );
    expect(new Set(owners)).toEqual(new Set(['pay/settle', 'shop/', 'shop/__other__']));
    expect(valueAt(samples, durations, untilMs)).toBe(1214);
    expect([...samples.keys()].filter((name) => name.startsWith('automation_executions_total'))).toEqual([
      'automation_executions_total{server="prod",site="eu",project="pay",job_group="nightly",job_name="settle"}',
      'automation_executions_total{server="prod",site="eu",project="shop",job_group="",job_name=""}',
      'automation_executions_total{server="prod",site="eu",project="shop",job_group="",job_name="sync"}',
    ]);
    expect(valueAt(samples, /^automation_executions_total/, untilMs)).toBe(1214);
    expect(file).not.toContain('automation_node_failures');
  });

  it('explains an error in the arguments', async () => {
    expect(await run(['stage', ...span])).toMatchObject({
      code: 2,
      stderr: 'history: takes one of the configured servers: prod\n',
    });
    expect((await run(['prod', '--since=soon', '--until=1h'])).stderr).toBe(
      'history: --since: is neither a time, such as 2026-11-22T18:00:00Z, nor how long ago, such as 12h\n',
    );
    expect((await run(['stage', '--since=soon', '--until=late', '--label=1x'])).stderr.split('\n')).toEqual([
      'history: takes one of the configured servers: prod',
      expect.stringMatching(/^history: --label: /),
      'history: --since: is neither a time, such as 2026-11-22T18:00:00Z, nor how long ago, such as 12h',
      'history: --until: is neither a time, such as 2026-11-22T18:00:00Z, nor how long ago, such as 12h',
      '',
    ]);
    expect(await run(['prod', '--since=1h', `--until=${toIso(Date.now() + hourMs)}`])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'history: --until: is in the future\n',
    });
    expect((await run(['prod', '--since=1h', '--until=2h'])).stderr).toMatch(
      /^history: --since: is not before the end/,
    );
    expect((await run(['prod', ...span, '--label=site=us'])).stderr).toBe(
      'history: --label: site is already a label of these series\n',
    );
    expect((await run(['prod', ...span, '--label=1x'])).stderr).toMatch(/^history: --label: /);
    const { stderr } = await run(['prod', '--since=1h', '--url=http://127.0.0.1:2'], 'now.om');
    expect(stderr).toMatch(/before the first start, set executions\.count_from to \d{4}-/);
    for (const answer of [null, { servers: null }, { servers: [null, { name: 'prod', executions: null }] }]) {
      const { url } = await serve([
        createRoutes().get('/api/status', (_request, response) => void response.json(answer)),
      ]);
      const { code, stderr } = await run(['prod', '--since=1h', `--url=${url}`], 'now.om');
      expect([code, stderr]).toEqual([2, expect.stringContaining('it is unknown when this daemon began')]);
    }
    const { url: failing } = await serve([
      createRoutes().get('/api/status', (_request, response) => void response.status(500).end()),
    ]);
    const stopped = await run(['prod', '--since=1h', `--url=${failing}`], 'now.om');
    expect(stopped.code).toBe(2);
    expect(stopped.stderr).toMatch(/^http\S+: HTTP 500, [^]*\nit is unknown when this daemon began/);
    const lease = { owned: false, owner: 'http://exporter-1:9720' };
    const { url } = await serve([
      createRoutes().get('/api/status', (_request, response) => {
        response.json({ servers: [{ name: 'prod', executions: null, lease }] });
      }),
    ]);
    expect((await run(['prod', '--since=1h', `--url=${url}`], 'now.om')).stderr).toBe(
      `${url}: another exporter watches prod: set --url to http://exporter-1:9720\n`,
    );
  });
});
