import { collectors } from '../collectors/index.ts';
import { toFileHelp, toHelp, toWebFileHelp } from '../config/show/help.ts';
import { type ReferenceSection, renderReference, toOwnFamilies } from '../metrics/reference.ts';
import { createSelf } from '../metrics/self.ts';

/** Every metric that the daemon can serve, as Markdown. */
export function renderMetricReference(): string {
  const self = createSelf({ version: '', nodeVersion: '' });
  const sections: ReferenceSection[] = collectors.map(({ name, help, every, on, metrics }) => ({
    title: `Collector \`${name}\``,
    text: `${help}. Every ${every}, ${on ? 'on' : 'off'} unless configured otherwise.`,
    families: Object.values(metrics),
  }));
  const own = {
    title: 'The server as a whole, and the exporter itself',
    text: ownText,
    families: toOwnFamilies(self.registry),
  };
  return `${introduction}\n${renderReference([...sections, own])}`;
}

const introduction = `# Metrics

Every series of a watched server carries the label \`server\`, its configured name. A value that a server does not report has no series: there is
never an invented 0. Text 0.0.4 and OpenMetrics 1.0 are served from the same values, by \`Accept\`.
`;

const ownText = 'In addition, the exporter serves `process_*` and `nodejs_*` metrics of its own process.';

/** Every option, as Markdown. */
export function renderOptionReference(): string {
  const rows = toHelp(collectors).map(({ path, flag, env, default: fallback, help, reload }) => {
    const cells = [path, flag, env, fallback].map((cell) => (cell === undefined || cell === '' ? '' : toCode(cell)));
    return `| ${[...cells, escapeCell(help), reload === 'restart' ? 'restart' : ''].join(' | ')} |`;
  });
  const fileRows = toFileHelp().map(
    ({ path, default: fallback = '', help }) =>
      `| ${toCode(path ?? '')} | ${fallback === '' ? '' : toCode(fallback)} | ${escapeCell(help)} |`,
  );
  const webRows = toWebFileHelp().map(
    ({ path, default: fallback, help }) =>
      `| ${toCode(path)} | ${fallback === '' ? '' : toCode(fallback)} | ${escapeCell(help)} |`,
  );
  return `${optionIntroduction}\n${rows.join('\n')}\n\n${fileIntroduction}\n${fileRows.join('\n')}\n\n${webIntroduction}\n${webRows.join('\n')}\n`;
}

function toCode(text: string): string {
  return `\`${escapeCell(text)}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

const optionIntroduction = `# Configuration

Flags take precedence over environment variables, and variables over the file. Variables of servers configure a single server.
A reload (\`POST /-/reload\` or SIGHUP) applies all changes except options marked \`restart\`. For these, the previous value stays in
effect, and the change is reported in the response, in the log and at the top of \`/config\`.

| in the file | flag | variable | default | what | takes effect with |
|---|---|---|---|---|---|`;

const fileIntroduction = `## Only in the file

\`<family>\` is the name of a metric family.

| in the file | default | what |
|---|---|---|`;

const webIntroduction = `## The web configuration

The file of \`--web.config.file\`: [web-configuration.md](web-configuration.md) explains it.

| field | default | description |
|---|---|---|`;
