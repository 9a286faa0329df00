import { type LeastPolicy, type Purpose, toLeastPolicy } from '../../api/access-policy.ts';
import { execution } from '../../api/endpoints/execution.ts';
import { executionOutput } from '../../api/endpoints/execution-output.ts';
import { executionState } from '../../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../api/endpoints/job-workflow.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import type { Config, ServerConfig } from '../../config/config.ts';
import { collectors } from '../catalogue/collectors.ts';

/** Returns the minimal policy for everything that is enabled on a server. */
export function toServerPolicy(
  { dialect, projects }: Pick<ServerConfig, 'dialect' | 'projects'>,
  config: Config,
): LeastPolicy {
  return toLeastPolicy(listPurposes(config), {
    dialect: dialect === 'service' ? 'service' : 'rundeck',
    projects: toPattern(projects.include.sources),
  });
}

export function listPurposes({ collectors: settings, traces }: Config): readonly Purpose[] {
  const enabled = collectors.filter(({ name }) => settings[name]?.enabled);
  return [
    { name: 'start', reads: [systemInfo] },
    ...enabled,
    // With `auto`, an environment variable decides, and it may differ on another machine.
    ...(traces.enabled === 'off'
      ? []
      : [{ name: 'traces', reads: [execution, executionState, executionOutput, jobWorkflow] }]),
  ];
}

function toPattern(sources: readonly string[]): string {
  if (sources.length === 0 || sources.includes('.*')) return '.*';
  return sources.length === 1 ? sources.join('') : `(${sources.join('|')})`;
}
