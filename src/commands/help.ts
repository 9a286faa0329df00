import { collectors } from '../collectors/index.ts';
import { type HelpRow, toFileHelp, toHelp } from '../config/show/help.ts';
import { commandFlags, commandWords } from './command-table.ts';

/** `--help`: every command, every flag, and what has no flag. */
export function renderHelp(version: string): string {
  const rows = toHelp(collectors);
  const options = rows.filter(({ flag }) => flag !== undefined);
  const servers = rows.filter(({ flag }) => flag === undefined);
  return `automation-exporter ${version}

Prometheus metrics, dashboards, alerts and runbooks for a job-automation server.

Usage: automation-exporter [command] [flags]

Commands:
${commandWords.map(({ name, help }) => `  ${name.padEnd(12)}${help}`).join('\n')}

Flags of the commands:
${commandFlags.map(({ name, letter, placeholder, help, commands }) => renderFlag(`${letter === undefined ? '' : `-${letter}, `}--${name}${placeholder === undefined ? '' : `=${placeholder}`}`, help, commands)).join('\n')}

Options as flag, environment variable and configuration file key (flags win over variables, variables over the file):
${options.map(renderOption).join('\n')}

A single server from the environment (for several, use \`servers\` in the file):
${servers.map(renderVariable).join('\n')}

Only in the file:
${toFileHelp().map(renderFileOption).join('\n')}

Exit codes:
  0  success
  1  an external problem: a port in use, or an endpoint that check finds denied, broken or unreachable
  2  invalid command line, configuration or state directory

Examples:
  automation-exporter                                  watch a simulated server
  automation-exporter serve --config.file=config.yaml  watch your servers
  automation-exporter check --json                     report what works and what is denied
  automation-exporter serve --no-collector.healthcheck --log.format=json
`;
}

function renderFlag(usage: string, help: string, commands: readonly string[] | undefined): string {
  return `  ${usage.padEnd(22)}${help}${commands === undefined ? '' : ` (${commands.join(', ')})`}`;
}

function renderOption({ flag, env, path, default: fallback, help }: HelpRow): string {
  const names = [env, path].filter((name) => name !== undefined).join('  ');
  return `  ${flag}\n      ${help}${fallback === undefined ? '' : ` Default: ${fallback}.`}\n      ${names}`;
}

function renderFileOption({ path, default: fallback, help }: Pick<HelpRow, 'path' | 'default' | 'help'>): string {
  return `  ${path}\n      ${help}${fallback === undefined ? '' : ` Default: ${fallback}.`}`;
}

function renderVariable({ env, path, default: fallback, help }: HelpRow): string {
  const key = path === undefined ? '' : `  ${path}`;
  return `  ${env}${key}\n      ${help}${fallback === undefined ? '' : ` Default: ${fallback}.`}`;
}
