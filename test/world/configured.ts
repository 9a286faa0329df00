import { listFamilies } from '../../src/commands/reserved-labels.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { formatComplaint } from '../../src/domain/complaint.ts';
import { checkInterval } from '../../src/domain/interval.ts';
import type { Plan } from './plan.ts';

/** Loads the configuration from a text. */
export async function configure(text: string): Promise<Config> {
  const loaded = await loadConfig({
    arguments: parseArguments(['--config.file=world.yaml'], { collectors }),
    env: {},
    readFile: async (path) => (path === 'token' ? token : text),
    collectors,
    families,
    validateInterval: checkInterval,
  });
  if (!loaded.ok) throw new Error(loaded.complaints.map(formatComplaint).join('\n'));
  return loaded.config;
}

const families = listFamilies();

export const token = 'token-of-the-world';

export type Change = {
  readonly exclude?: readonly string[];
  readonly excludeJobs?: readonly string[];
  readonly maxSeries?: number;
  readonly isCounting?: boolean;
};

export function toYaml(plan: Plan, change: Change = {}): string {
  const { exclude = [], excludeJobs = [], maxSeries = plan.maxSeries ?? 1_000_000, isCounting = true } = change;
  const toList = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`;
  const { listsEveryMs } = plan;
  const on = [
    'system-info',
    'projects',
    'project-jobs',
    'executions',
    ...(listsEveryMs === undefined ? [] : ['schedule', 'execution-mode']),
  ];
  const toEvery = (name: string): string =>
    listsEveryMs === undefined ? (name === 'project-jobs' ? '10m' : '30s') : `${listsEveryMs / 1000}s`;
  const off = [
    'execution-mode',
    'healthcheck',
    'ping',
    'log-storage',
    'app-metrics',
    'project-modes',
    'threads',
    'project-nodes',
  ];
  const more = [
    'schedule',
    'log-storage-incomplete',
    'job-info',
    'tokens',
    'users',
    'acl-policies',
    'stored-keys',
    'cluster-jobs',
  ];
  const others = [...off, ...more, 'execution-metrics', 'user-classes'];
  const all = [...on, ...others].map((name) => `  ${name}: { enabled: true }`);
  const few = [
    ...on.map((name) =>
      name === 'executions'
        ? `  executions: { enabled: ${isCounting}, every: ${plan.executionsEveryMs / 1000}s, max_series: ${maxSeries} }`
        : `  ${name}: { enabled: true, every: ${toEvery(name)} }`,
    ),
    ...others.flatMap((name) => (on.includes(name) ? [] : [`  ${name}: { enabled: false }`])),
  ];
  return [
    'servers:',
    '  - name: upstream',
    '    url: http://service',
    '    token_file: token',
    `    timeout: ${plan.timeoutMs}ms`,
    '    namespace: http://service',
    `    budget: { requests_per_second: ${plan.requestsPerSecond}, concurrency: ${plan.concurrency ?? 4} }`,
    ...(exclude.length > 0 ? [`    projects: { exclude: ${toList(exclude)} }`] : []),
    ...(excludeJobs.length > 0 ? [`jobs: { exclude: ${toList(excludeJobs)} }`] : []),
    'executions:',
    `  backfill: ${plan.backfillMs / 1000}s`,
    `  max_delay: ${plan.maxDelayMs / 1000}s`,
    `  catch_up_limit: ${plan.catchUpLimitMs / 1000}s`,
    'metrics:',
    `  hold_new_series: ${plan.holdMs / 1000}s`,
    // Each bucket is a line of every scrape, so there are few.
    '  automation_execution_duration_seconds: { buckets: [5, 60] }',
    'traces:',
    `  enabled: ${plan.traces === 'off' ? 'off' : 'on'}`,
    ...(plan.traces === 'root' ? ['  detail: root'] : []),
    ...(plan.maxTraceAgeMs === undefined ? [] : [`  max_age: ${plan.maxTraceAgeMs / 1000}s`]),
    'collectors:',
    ...(plan.isComplete === true ? all : few),
    '',
  ].join('\n');
}
