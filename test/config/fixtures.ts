import type { CollectorDefaults, FamilyFacts } from '../../src/config/declare/options.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { formatComplaint } from '../../src/domain/complaint.ts';

export const collectors: readonly CollectorDefaults[] = [
  { name: 'execution-mode', every: '15s', on: true, help: 'Execution mode' },
  { name: 'system-info', every: '30s', on: true, help: 'Release and memory' },
  { name: 'project-nodes', every: '5m', on: false, help: 'Nodes of each project' },
];

export const families: readonly FamilyFacts[] = [
  { name: 'automation_server_info', type: 'info', labels: ['version', 'build'] },
  { name: 'automation_execution_mode', type: 'gauge', labels: ['mode'], stateLabel: 'mode' },
  { name: 'automation_project_nodes', type: 'gauge', labels: ['project', 'os_family'] },
  { name: 'automation_execution_duration_seconds', type: 'histogram', labels: ['project', 'status'] },
  { name: 'automation_projects', type: 'gauge', labels: [] },
  {
    name: 'cicd_pipeline_run_duration_seconds',
    type: 'histogram',
    labels: ['cicd_pipeline_name'],
    bucketsFrom: 'automation_execution_duration_seconds',
  },
];

const takenLabels = { ofServers: ['server', 'project', 'job', 'le'], ofProjects: ['server', 'project', 'label'] };

type World = Partial<Omit<LoadOptions, 'readFile' | 'arguments'>> & {
  readonly argv?: readonly string[];
  /** The text of `config.yaml`; if present, a flag names the file. */
  readonly yaml?: string;
  readonly files?: Readonly<Record<string, string>>;
};

/** Loads a configuration with a few files in memory. */
export function loadIn({ yaml, files = {}, argv = [], env = {}, ...options }: World): Promise<LoadedConfig> {
  const all: Readonly<Record<string, string>> = {
    '/run/token': 'k3y\n',
    ...files,
    ...(yaml === undefined ? {} : { 'config.yaml': yaml }),
  };
  const readFile = async (path: string) => {
    const text = Object.hasOwn(all, path) ? all[path] : undefined;
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
  const named = yaml === undefined ? argv : ['--config.file=config.yaml', ...argv];
  return loadConfig({
    arguments: parseArguments(named, { collectors: options.collectors ?? collectors }),
    env,
    readFile,
    collectors,
    families,
    takenLabels,
    ...options,
  });
}

/** The complaints about a configuration, as text for people. */
export async function complain(world: World): Promise<readonly string[]> {
  const loaded = await loadIn(world);
  return loaded.ok ? [] : loaded.complaints.map((complaint) => formatComplaint(complaint));
}

/** The configuration and its origins; throws if there are complaints. */
export async function load(world: World): Promise<Extract<LoadedConfig, { ok: true }>> {
  const loaded = await loadIn(world);
  if (loaded.ok) return loaded;
  throw new Error(loaded.complaints.map((complaint) => formatComplaint(complaint)).join('\n'));
}
