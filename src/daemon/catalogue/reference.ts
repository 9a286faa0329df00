import { type CollectorDefaults, generalOptions, usualMaxSeries } from '../../config/declare/options.ts';
import { type HelpRow, toFileHelp, toHelp, toWebFileHelp } from '../../config/show/help.ts';
import { type ReferenceSection, renderReference, toOwnFamilies } from '../../metrics/reference.ts';
import { createSelf } from '../../metrics/self.ts';
import { collectors } from './collectors.ts';

export function renderMetricReference(): string {
  const self = createSelf({ version: '', nodeVersion: '' });
  const sections: ReferenceSection[] = collectors.map(({ name, help, every, on, metrics }) => ({
    title: `Collector \`${name}\``,
    text: `${help}. Interval ${every}${on ? '' : '; off by default'}.`,
    families: Object.values(metrics),
  }));
  const own = {
    title: 'The server as a whole, and the exporter itself',
    text: ownText,
    families: toOwnFamilies(self.registry),
  };
  return `${metricIntroduction}\n${renderReference([...sections, own])}`;
}

const metricIntroduction = `# Metrics

Every series of a watched server has the label \`server\`, the configured name of the server. A value that the server does not report has no
series, never a 0. Brackets name the source: the API path, or the field of its response.

In protobuf scrapes, every histogram is also a native one (\`scrape_native_histograms: true\`; before 3.8 the feature
\`native-histograms\`). With \`always_scrape_classic_histograms: true\` Prometheus also keeps the series \`…_bucket\`.
`;

const ownText = 'The exporter also serves `process_*` and `nodejs_*` metrics of its own process.';

/** Renders every option as Markdown: a table for each section of the file, with a row for each collector. */
export function renderOptionReference(): string {
  const rows = toHelp([]);
  const sections = sectionNames.map((section) => {
    const of = rows.filter(({ path = '' }) => path.split(/[.[]/)[0] === section);
    const hasFlags = of.some(({ flag }) => flag !== undefined);
    const columns = ['option', ...(hasFlags ? ['flag'] : []), 'default', 'what'];
    const cells = of.map((row) => [toCode(row.path), ...(hasFlags ? [toCode(row.flag)] : []), ...toMeaning(row)]);
    return `## ${section}\n\n${toTable(columns, cells)}`;
  });
  const launch = rows.filter(({ path, flag }) => path === undefined && flag !== undefined);
  return [
    optionIntroduction,
    toTable(
      ['flag', 'default', 'what'],
      launch.map((row) => [toCode(row.flag), ...toMeaning(row)]),
    ),
    ...sections,
    `${collectorIntroduction}\n${toTable(['collector', 'on', 'every', 'max_series', 'what'], collectors.map(toCollectorCells))}`,
    `${familyIntroduction}\n${toTable(
      ['option', 'default', 'what'],
      toFileHelp().map((row) => [toCode(row.path), ...toMeaning(row)]),
    )}`,
    `${webIntroduction}\n${toTable(
      ['field', 'default', 'what'],
      toWebFileHelp().map((row) => [toCode(row.path), ...toMeaning(row)]),
    )}`,
  ].join('\n');
}

const sectionNames = ['servers', ...Object.keys(generalOptions)];

function toMeaning({
  default: fallback,
  help,
  reload,
}: Pick<HelpRow, 'default' | 'help'> & Partial<HelpRow>): string[] {
  return [toCode(fallback), escapeCell(`${reload === 'restart' ? '*(restart)* ' : ''}${help}`)];
}

function toCollectorCells({
  name,
  on,
  every,
  maxSeries = usualMaxSeries,
  help,
  projects,
}: CollectorDefaults): string[] {
  const more = projects === undefined ? '' : ` \`projects\`: ${projects}`;
  return [toCode(name), on ? 'yes' : 'no', every, String(maxSeries), escapeCell(`${help}.${more}`)];
}

function toTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |\n`);
  return `| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}\n${lines.join('')}`;
}

function toCode(text = ''): string {
  return text === '' ? '' : `\`${escapeCell(text)}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

const optionIntroduction = `# Configuration

Most installations set \`servers\`, \`web.external_url\` and \`state.dir\`; [README](../README.md#watch-your-server) has an example. \`config --schema\` prints a
JSON Schema for editors.

**Names.** An option of the file such as \`web.listen_address\` is also the flag \`--web.listen-address\` and the variable
\`AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS\`: the prefix, then the name of the flag in capitals, with \`_\` for each dot and hyphen. \`servers[].url\` is
\`AUTOMATION_EXPORTER_URL\` if there is one server, and has no flag. \`AUTOMATION_EXPORTER_TOKEN\`, \`…_PASSWORD\` and
\`…_BEARER_TOKEN\` contain the secret itself instead of the path of its file.

**Precedence.** Flags, then variables, then the file.

**Reload.** \`POST /-/reload\` or SIGHUP applies every change except those marked *(restart)*. For these the previous value stays in effect; the response, the log
and \`/config\` name them.

## Flags without an option in the file
`;

const collectorIntroduction = `## collectors

\`collectors.NAME.enabled\`, \`.every\` and \`.max_series\` (per server); as flags \`--[no-]collector.NAME\`, \`--collector.NAME.every=DURATION\` and
\`--collector.NAME.max-series=NUMBER\`.
`;

const familyIntroduction = `## Metric families

\`<family>\` is the name of a collector's metric family. Only the file has these options.
`;

const webIntroduction = `## The web configuration

The file of \`--web.config.file\`; see [web-configuration.md](web-configuration.md).
`;
