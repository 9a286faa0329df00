import type { Config, ServerConfig } from '../config/config.ts';
import { toServerPolicy } from '../daemon/rights/least-policy.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';

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
  // The command works without a server, because a policy comes before a token.
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

function render({ name, url, dialect, projects }: Watched, config: Config): string {
  const { text, left } = toServerPolicy({ dialect, projects }, config);
  const comments = [
    `The minimal rights of automation-exporter on the server ${name}${url === '' ? '' : ` (${url})`},`,
    'with what is enabled in this configuration. It only allows reading: no change, run or deletion.',
    'Give the user of the token, or the token itself, the role automation-exporter.',
    'Tokens of Rundeck 2.7 and older have the role api_token_group instead.',
    ...(projects.exclude.sources.length === 0
      ? []
      : [`Projects excluded by configuration (${projects.exclude.sources.join(', ')}) are allowed too.`]),
    ...left.map(({ purpose, right, isAllOfIt }) => {
      const lost = isAllOfIt ? `${purpose} does not work without it` : `${purpose} uses it on old releases`;
      return `Left out, because it would also allow changes: ${right}; ${lost}.`;
    }),
  ];
  return `${comments.map((line) => `# ${line}\n`).join('')}${text}`;
}
