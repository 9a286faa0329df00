import type { CommandFlag } from '../config/read/command-line.ts';
import { type HelpRow, toFileHelp, toHelp } from '../config/show/help.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';
import { type CommandRow, commandFlags, commandWords } from './command-table.ts';

/** Renders `--help`: the overview, which must fit on a screen, or one command with its own flags. */
export function renderHelp(version: string, command: string | undefined): string {
  const row = commandWords.find(({ name }) => name === command);
  return row === undefined ? renderOverview(version) : renderCommand(row);
}

function renderOverview(version: string): string {
  return `automation-exporter ${version}

Prometheus metrics, dashboards, alerts and runbooks for a job-automation server.

Usage: automation-exporter [command] [flags]

Commands:
${commandWords.map(({ name, help }) => `  ${name.padEnd(17)}${toSummary(help)}`).join('\n')}

Flags:
${renderCommonFlags()}

  COMMAND --help  the flags of one command
  --help-all      every option with its flag, variable and key in the file

${exitCodesText}
Examples:
  automation-exporter                                  watch a simulated server
  automation-exporter serve --config.file=config.yaml  watch your servers
`;
}

/** Returns the first sentence up to a colon or semicolon. The help of the command has the whole text. */
function toSummary(help: string): string {
  return help.replace(/(?:[:;]|\. ).*$/s, '.');
}

function renderCommand({ name, help, usage = '', hasOptions = true, examples }: CommandRow): string {
  const flags = commandFlags.filter(({ commands }) => commands?.includes(name) === true);
  const own = flags.map((flag) => renderFlag(toUsage(flag), flag.help)).join('\n');
  const options = `Options of the configuration, such as these (--help-all lists all):\n${renderCommonFlags()}\n\n`;
  const codes = help.includes('Exit codes:') ? '' : `${exitCodesText}\n`;
  return `Usage: automation-exporter ${name}${usage === '' ? '' : ` ${usage}`} [flags]

${help}

${own === '' ? '' : `Flags:\n${own}\n\n`}${hasOptions ? options : ''}${codes}Examples:
${examples.map((example) => `  automation-exporter ${example}`).join('\n')}
`;
}

/** The options that nearly everybody sets. A test checks that the options exist. */
export const commonFlags: readonly string[] = [
  'config.file',
  'web.listen-address',
  'web.external-url',
  'state.dir',
  'traces.enabled',
  'log.level',
];

function renderCommonFlags(): string {
  const rows = toHelp(collectors).filter(({ flag = '' }) => commonFlags.includes(flag.replace(/^--|=.*$/g, '')));
  const lines = rows.map(({ flag = '', help }) => renderFlag(flag.replace(/=.*\|.*$/, '=WORD'), toFirstSentence(help)));
  return [...lines, renderFlag('--[no-]collector.NAME', 'Switch a collector on or off.')].join('\n');
}

function toFirstSentence(help: string): string {
  return help.replace(/[.;:,] .*$/s, '.');
}

const exitCodesText = `Exit codes:
  0  success
  1  an external problem: a port in use, or an endpoint that check finds denied, broken or unreachable
  2  invalid command line, configuration or state directory
`;

/** Renders `--help-all`: every command, every flag, and the options that have no flag. */
export function renderWholeHelp(version: string): string {
  const rows = toHelp(collectors);
  const options = rows.filter(({ flag }) => flag !== undefined);
  const servers = rows.filter(({ flag }) => flag === undefined);
  return `${renderOverview(version)}
Flags of the commands:
${commandFlags.map((flag) => renderFlag(toUsage(flag), flag.help, flag.commands)).join('\n')}

Options as flag, environment variable and configuration file key (flags win over variables, variables over the file):
${options.map(renderOption).join('\n')}

A single server from the environment (for several, use \`servers\` in the file):
${servers.map(renderVariable).join('\n')}

Only in the file:
${toFileHelp().map(renderFileOption).join('\n')}
`;
}

function toUsage({ name, letter, placeholder }: CommandFlag): string {
  return `${letter === undefined ? '' : `-${letter}, `}--${name}${placeholder === undefined ? '' : `=${placeholder}`}`;
}

function renderFlag(usage: string, help: string, commands?: readonly string[]): string {
  return `  ${usage.padEnd(29)} ${help}${commands === undefined ? '' : ` (${commands.join(', ')})`}`;
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
