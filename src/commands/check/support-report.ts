import { readdirSync, statSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { collectors } from '../../daemon/catalogue/collectors.ts';
import { toCount, toSize } from '../../domain/format.ts';
import { toPostgresSettings } from '../shared-state.ts';
import type { ServerReport } from './probe.ts';

/** Renders the part of a bug report that may be published: only numbers, and words of the exporter itself. */
export function renderSupportReport(reports: readonly ServerReport[], config: Config, version: string): string {
  const isOn = ({ name }: { name: string }): boolean => config.collectors[name]?.enabled === true;
  const [on, off] = [collectors.filter(isOn), collectors.filter((one) => !isOn(one))].map((some) =>
    some.map(({ name }) => name).join(', '),
  );
  const lines = [
    `exporter     ${version}`,
    `node         ${process.versions.node}, ${platform()} ${arch()}`,
    `state        ${toState(config)}`,
    `on           ${on}`,
    `off          ${off}`,
    ...reports.flatMap((report, index) => renderServer(report, toTitle(reports, index))),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns a title with numbers for servers and members, because their names are private. */
function toTitle(reports: readonly ServerReport[], index: number): string {
  const servers = [...new Set(reports.map(({ server }) => server))];
  const { server = '', member } = reports[index] ?? {};
  const title = `server ${servers.indexOf(server) + 1}`;
  if (member === undefined) return title;
  const before = reports.slice(0, index).filter((one) => one.server === server && one.member !== undefined);
  return `${title}, member ${before.length + 1}`;
}

function renderServer(report: ServerReport, title: string): readonly string[] {
  const { dialect = 'unknown', apiVersion = 'unknown', release, reachable, credentials, endpoints, sizes } = report;
  const width = Math.max(...endpoints.map(({ endpoint }) => endpoint.length), 'credentials'.length) + 2;
  const rows: readonly (readonly [string, string])[] = [
    ['reachable', reachable ? 'yes' : 'no'],
    ['credentials', credentials],
    ['dialect', `${dialect}, API ${apiVersion}, release ${toNumbers(release)}`],
    ['sizes', sizes === undefined ? 'unknown' : toSizes(sizes)],
    ...endpoints.map(({ endpoint, verdict, needs }) => {
      return [endpoint, needs === undefined ? verdict : `${verdict}, needs an administrator`] as const;
    }),
  ];
  return ['', title, ...rows.map(([name, value]) => `  ${name.padEnd(width)}${value}`)];
}

function toSizes({ projects, readProjects, jobs }: NonNullable<ServerReport['sizes']>): string {
  const of = projects === readProjects ? '' : ` in the first ${readProjects}`;
  return `${toCount(projects, 'project')}, ${toCount(jobs, 'job')}${of}`;
}

/** Returns only the numbers of a release, because a server may send any text. */
function toNumbers(release = ''): string {
  return /^\d{1,3}(?:\.\d{1,3}){1,3}/.exec(release)?.[0] ?? 'unknown';
}

function toState({ state }: Config): string {
  if (state.memory) return 'memory';
  if (toPostgresSettings(state.postgres) !== undefined) return 'PostgreSQL';
  try {
    const files = readdirSync(state.dir).filter((name) => /^state\.sqlite(?:-wal)?$/.test(name));
    return `SQLite, ${toSize(files.reduce((sum, name) => sum + statSync(join(state.dir, name)).size, 0))}`;
  } catch {
    return 'SQLite, not readable here';
  }
}
