import { type LeastPolicy, type Purpose, toLeastPolicy } from '../api/access-policy.ts';
import { execution } from '../api/endpoints/execution.ts';
import { executionOutput } from '../api/endpoints/execution-output.ts';
import { executionState } from '../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../api/endpoints/job-workflow.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { collectors } from '../collectors/index.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';

/** Prints the minimal access policy that each server needs for this configuration. */
export async function acl(context: CommandContext): Promise<number> {
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  const { config } = loaded;
  const wanted = context.arguments.positionals[0];
  const servers = config.servers.filter(({ name }) => wanted === undefined || name === wanted);
  if (wanted !== undefined && servers.length === 0) {
    const names = config.servers.map(({ name }) => name).join(', ');
    context.complain(`acl: ${JSON.stringify(wanted)} is not a configured server (configured: ${names || 'none'})\n`);
    return exitCodes.misconfigured;
  }
  // A token needs a policy first, and without a token no server can be configured.
  const policies = servers.length === 0 ? [render(anyServer, config)] : servers.map((server) => render(server, config));
  context.write(policies.join('---\n'));
  return exitCodes.well;
}

type Watched = Pick<ServerConfig, 'name' | 'url' | 'dialect' | 'projects'>;

const everyProject = { sources: ['.*'], matches: () => true };
const anyServer: Watched = {
  name: 'default',
  url: '',
  dialect: 'auto',
  projects: {
    include: everyProject,
    exclude: { sources: [], matches: () => false },
    labels: [],
    isWanted: () => true,
    labelsOf: () => [],
  },
};

/** Returns the minimal policy for everything that is enabled on a server. */
export function toServerPolicy(
  { dialect, projects }: Pick<Watched, 'dialect' | 'projects'>,
  config: Config,
): LeastPolicy {
  return toLeastPolicy(listPurposes(config), {
    dialect: dialect === 'service' ? 'service' : 'rundeck',
    projects: toPattern(projects.include.sources),
  });
}

function render({ name, url, dialect, projects }: Watched, config: Config): string {
  const { text, left } = toServerPolicy({ dialect, projects }, config);
  const comments = [
    `The minimal rights of automation-exporter on the server ${name}${url === '' ? '' : ` (${url})`},`,
    'with what is enabled in this configuration. It only allows reading: no change, run or deletion.',
    'Give the user of the token, or the token itself, the role automation-exporter.',
    ...(projects.exclude.sources.length === 0
      ? []
      : [`Projects excluded by configuration (${projects.exclude.sources.join(', ')}) are allowed too.`]),
    ...left.map(({ purpose, right, isAllOfIt }) => {
      const lost = isAllOfIt ? `${purpose} does not work without it` : `${purpose} uses it on old releases`;
      return `Not allowed, because it also allows changes: ${right}; ${lost}.`;
    }),
  ];
  return `${comments.map((line) => `# ${line}\n`).join('')}${text}`;
}

export function listPurposes({ collectors: settings, traces }: Config): readonly Purpose[] {
  const enabled = collectors.filter(({ name }) => settings[name]?.enabled);
  return [
    { name: 'start', reads: [systemInfo] },
    ...enabled,
    // With `auto`, an environment variable decides, which may be set elsewhere.
    ...(traces.enabled === 'off'
      ? []
      : [{ name: 'traces', reads: [execution, executionState, executionOutput, jobWorkflow] }]),
  ];
}

function toPattern(sources: readonly string[]): string {
  if (sources.length === 0 || sources.includes('.*')) return '.*';
  return sources.length === 1 ? sources.join('') : `(${sources.join('|')})`;
}
