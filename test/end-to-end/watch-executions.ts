import { expect, onTestFinished } from 'vitest';
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { type DaemonOptions, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, accept, startSink } from '../tracing/deliver/sink.ts';

type Given = Pick<DaemonOptions, 'stateDirectory'> & {
  /** More OpenTelemetry variables, by the address of the trace backend. */
  readonly toEnv?: (sinkUrl: string) => DaemonOptions['env'];
  readonly jobs?: readonly string[];
  readonly simulated?: SimulatorOptions;
  readonly answer?: Answer;
  /** More collectors with their settings, one line of YAML each. */
  readonly collectors?: string;
  readonly yaml?: string;
  readonly isTracing?: boolean;
};

/** Starts a server with the project `pay`, and a daemon that traces each execution. */
export async function watchExecutions(node: string, given: Given = {}) {
  const {
    jobs: names = [],
    simulated = {},
    answer = accept,
    collectors = '',
    yaml = '',
    isTracing = true,
    toEnv,
    ...kept
  } = given;
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free', ...simulated });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', [node]);
  const jobs = names.map((name) => simulator.control.createJob('pay', { name, group: 'nightly' }));
  const sink = await startSink(answer);
  onTestFinished(() => sink.stop());
  const all = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors:
  executions: { enabled: true, every: 1s }
${collectors}executions: { max_delay: 1s }
metrics: { hold_new_series: 0s }
${yaml}`;
  const daemon = await startDaemon({
    ...kept,
    yaml: all,
    token: simulator.token,
    flags: ['--collector.disable-defaults'],
    env: { ...(isTracing ? { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url } : {}), ...toEnv?.(sink.url) },
  });
  onTestFinished(daemon.stop);
  await eventually(async () => expect(await daemon.metrics()).toMatch(/collector_success\{.*"executions"\} 1/));
  return { simulator, jobs, sink, daemon, yaml: all };
}
