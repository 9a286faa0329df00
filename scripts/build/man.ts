import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { type HelpRow, toFileHelp, toHelp } from '../../src/config/show/help.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';

/** Renders the manual page from the same tables as `--help`. */
export function renderManual(version: string): string {
  const rows = toHelp(collectors);
  return `${[
    `.TH AUTOMATION-EXPORTER 1 "" "automation-exporter ${version}" "User Commands"`,
    // Options are long words, so lines are not justified.
    '.ad l',
    '.SH NAME',
    'automation\\-exporter \\- Prometheus exporter and OpenTelemetry tracer for Rundeck',
    '.SH SYNOPSIS',
    '.B automation\\-exporter',
    '[\\fICOMMAND\\fR] [\\fIFLAG\\fR...]',
    '.SH DESCRIPTION',
    escape(
      'Polls servers that speak the Rundeck API, serves what it learns as Prometheus metrics and pages, and sends each execution as one OpenTelemetry trace. Without a command and without a configured server it watches a simulated server.',
    ),
    '.SH COMMANDS',
    ...commandWords.flatMap(({ name, help }) => entry(name, help)),
    '.SH FLAGS OF COMMANDS',
    ...commandFlags.flatMap(({ name, letter, placeholder, help, commands }) => {
      const usage = `${letter === undefined ? '' : `-${letter}, `}--${name}${placeholder === undefined ? '' : `=${placeholder}`}`;
      return entry(usage, commands === undefined ? help : `${help} (${commands.join(', ')})`);
    }),
    '.SH OPTIONS',
    'Each option has a flag, an environment variable and a key of the configuration file; flags win over variables, variables over the file.',
    ...rows.flatMap((row) => (row.flag === undefined ? [] : entry(row.flag, describeRow(row)))),
    '.SH ENVIRONMENT',
    'One server from the environment; the file can list several.',
    ...rows.flatMap((row) => (row.flag === undefined ? entry(row.env, describeRow({ ...row, env: '' })) : [])),
    '.SH CONFIGURATION FILE',
    'These keys have no flag and no variable.',
    ...toFileHelp().flatMap((row) => entry(row.path ?? '', describeRow({ ...row, env: '', path: undefined }))),
    '.SH EXIT STATUS',
    ...entry('0', 'Success.'),
    ...entry('1', 'An external problem: a port in use, or an endpoint that check finds denied, broken or unreachable.'),
    ...entry('2', 'An invalid command line, configuration or state directory.'),
    '.SH SIGNALS',
    ...entry('SIGHUP', 'Reads the configuration again; a wrong one is rejected and the current one stays in force.'),
    ...entry('SIGTERM, SIGINT', 'Ends after the work in progress has been stored.'),
    '.SH SEE ALSO',
    '.BR prometheus (1)',
  ].join('\n')}\n`;
}

type Described = Pick<HelpRow, 'env' | 'path' | 'default' | 'help'>;

function describeRow({ help, default: fallback, env, path }: Described): string {
  const names = [env, path ?? ''].filter((name) => name !== '').join(', ');
  return `${help}${fallback === undefined ? '' : ` Default: ${fallback}.`}${names === '' ? '' : ` [${names}]`}`;
}

function entry(term: string, text: string): readonly string[] {
  return ['.TP', `\\fB${escape(term)}\\fR`, escape(text)];
}

/** Escapes text for roff: a hyphen must stay a hyphen when a command is copied, and no line may look like a request of roff. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
