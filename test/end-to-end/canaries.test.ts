import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programs } from '../../simulator/answers/executions/program-lines.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { failingWork } from './failing-work.ts';
import { watchExecutions } from './watch-executions.ts';

/** Secrets in the output of simulated programs, in job definitions and in the options of runs. */
const canaries = ['Simulated-', 'canary-default', 'canary-argument', 'canary-step'];

const pages =
  ' executions jobs jobs/prod/pay/nightly/job%200 schedule changes tonight skipped/prod windows/prod traces config reference metrics alerts/rules.yaml dashboards/overview.json api/status api/changes api/tonight api/skipped?server=prod api/windows?server=prod'.split(
    ' ',
  );

it('neither shows nor stores secrets of logs, options and definitions', async () => {
  const stateDirectory = makeFolder();
  const every = ['projects', 'schedule', 'changes', 'system-info', 'project-nodes', 'stored-keys', 'project-modes'];
  const { simulator, sink, daemon } = await watchExecutions('db03', {
    simulated: { apiVersion: 58 },
    collectors: every.map((name) => `  ${name}: { enabled: true, every: 1s }\n`).join(''),
    yaml: 'diagnosis: { logs: lines, events: true }\n',
    toEnv: (url) => ({
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/logs`,
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/metrics`,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    }),
    stateDirectory,
  });
  const withSecrets = programs.filter((template) => template.includes('{secret}'));
  const schedule = { everyMs: 3_600_000, offsetMs: 0 };
  const jobs = withSecrets.map((template, at) =>
    simulator.control.createJob('pay', {
      name: `job ${at}`,
      group: 'nightly',
      schedule,
      options: { secret: 'canary-default' },
      work: { ...failingWork(template), steps: [] },
    }),
  );
  const run = (id: string): number => simulator.control.runJob(id, { options: { secret: 'canary-argument' } }) ?? 0;
  for (const id of jobs) run(id);
  simulator.advance(60_000);
  await eventually(async () => expect(await daemon.metrics()).toMatch(/status="succeeded"\} [1-9]/));
  // The exporter notices a change of a job only if it read the job before the change.
  const isRead = (id: string): boolean => simulator.requests().some(({ path }) => path.endsWith(`/job/${id}`));
  await eventually(async () => expect(jobs.filter((id) => !isRead(id))).toEqual([]));
  const ids = jobs.map((id, at) => {
    const work = failingWork(withSecrets[at] ?? '');
    const step = {
      kind: 'exec',
      text: 'pay --password=canary-step',
      nodeStep: true,
      seconds: 1,
      failureChance: 0,
    } as const;
    simulator.control.changeJob(id, { work: { ...work, steps: [step, ...work.steps] } });
    return run(id);
  });
  simulator.advance(60_000);
  await eventually(async () => {
    const text = await daemon.metrics();
    expect(text.match(/^automation_job_last_failure_info/gm)).toHaveLength(jobs.length);
    expect(text).toMatch(/^automation_exporter_log_lines_total\{result="sent"[^}]*\} [1-9]/m);
    expect(text).toMatch(/^automation_changes_total\{[^}]*kind="definition"\} [1-9]/m);
    expect(text).toMatch(/^automation_exporter_metrics_pushes_total\{result="delivered"\} [1-9]/m);
  });
  const places: [place: string, text: string][] = [];
  for (const path of [
    ...pages,
    ...ids.map((id) => `executions/prod/${id}`),
    ...ids.map((id) => `api/why?server=prod&execution=${id}`),
  ]) {
    const answer = await fetch(`${daemon.url}/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    places.push([path, await answer.text()]);
  }
  const config = `--config.file=${join(daemon.directory, 'config.yaml')}`;
  const output = join(stateDirectory, 'history.om');
  for (const words of [
    ['check', '--report'],
    ['history', 'prod', `--output=${output}`, '--since=1d', '--until=1m', '--executions.overlap=10s'],
  ]) {
    const child = startCli([...words, config], { cwd: daemon.directory });
    await child.ended;
    places.push([words[0] ?? '', child.output()]);
  }
  await daemon.stop();
  for (const { body } of sink.requests) places.push(['OTLP', body.toString('latin1')]);
  places.push(['log', daemon.logged.join('\n')]);
  const files = readdirSync(stateDirectory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  for (const { parentPath, name } of files) places.push([name, readFileSync(join(parentPath, name), 'latin1')]);
  expect(files.map(({ name }) => name)).toContain('history.om');
  expect(places.find(([, text]) => text.includes('[removed]'))).toBeDefined();
  const found = places.flatMap(([place, text]) =>
    canaries.filter((canary) => text.includes(canary)).map((canary) => `${place}: ${canary}`),
  );
  expect(found).toEqual([]);
});
