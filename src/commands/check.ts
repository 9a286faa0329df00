import type { Api } from '../api/client.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { ApiError } from '../api/errors.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';
import { listExposures, listFileExposures } from '../daemon/exposure.ts';
import { proveRights } from '../daemon/rights/prove-rights.ts';
import { type LiveReport, probeLive } from './check/live.ts';
import { askOnce, isFine, isOpenToAll, probeServer, type ServerReport } from './check/probe.ts';
import { toProbes } from './check/probes.ts';
import { renderSupportReport } from './check/support-report.ts';
import { type CommandContext, exitCodes, type Progress } from './command.ts';
import { type Loaded, loadOrComplain, noServer } from './load.ts';
import { loadOtlpOrComplain } from './trace-backend.ts';

export async function check(context: CommandContext): Promise<number> {
  const hasFlag = (name: string): boolean => context.arguments.flags.get(name) === true;
  const [isLive, isForSupport, asJson] = [hasFlag('live'), hasFlag('report'), hasFlag('json')];
  if (isForSupport && (asJson || isLive)) {
    context.complain(`--${asJson ? 'json' : 'live'}: excludes --report (remove one of them)\n`);
    return exitCodes.misconfigured;
  }
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  const { config } = loaded;
  if (config.servers.length === 0) {
    context.complain(`${noServer}\n`);
    return exitCodes.misconfigured;
  }
  const otlp = isLive ? await loadOtlpOrComplain(context, config) : undefined;
  if (isLive && otlp === undefined) return exitCodes.misconfigured;
  // For a bug report, no warnings are printed, because they contain names of files and servers.
  const warn = (text: string): void => (isForSupport ? undefined : context.complain(`warning: ${text}\n`));
  for (const exposure of listAllExposures(loaded)) warn(exposure);
  const enabled = collectors.filter(({ name }) => config.collectors[name]?.enabled);
  const { progress = () => {} } = context;
  const plan: Plan = { config, enabled, progress };
  const reports = (await Promise.all(config.servers.map((server) => probeAll(server, plan)))).flat();
  for (const warning of await findOpenMonitoring(config, reports)) warn(warning);
  if (otlp !== undefined) progress('the trace backend, the state directory, clocks and tokens');
  const live = otlp && (await probeLive(config, otlp, context.version));
  progress();
  if (isForSupport) {
    context.write(renderSupportReport(reports, config, context.version));
    return reports.every(isFine) ? exitCodes.well : exitCodes.failed;
  }
  const shown = new Set<string>();
  const text = asJson
    ? `${JSON.stringify(live === undefined ? reports : { servers: reports, live }, undefined, 2)}\n`
    : [
        ...reports.map((report) => renderReport(report, shown)),
        ...(live === undefined ? [] : [renderLive(live)]),
        ...toTotal(reports),
      ].join('\n');
  context.write(text);
  const isBroken = live?.some(({ verdict }) => verdict === 'broken') === true;
  return reports.every(isFine) && !isBroken ? exitCodes.well : exitCodes.failed;
}

/** Lists the warnings that `serve` logs when it starts. */
function listAllExposures({ config, configFile }: Loaded): string[] {
  const stateDirectory = config.state.memory ? undefined : config.state.dir;
  return [
    ...listFileExposures({ configFile, webConfigFile: config.web.configFile, stateDirectory }),
    ...config.servers.flatMap((server) => listExposures(server).map((exposure) => `${server.name}: ${exposure}`)),
  ];
}

/** Lists warnings about pages under /monitoring that need no credentials. Servers have these pages from release 6 on. */
async function findOpenMonitoring({ servers }: Config, reports: readonly ServerReport[]): Promise<string[]> {
  const found: string[] = [];
  for (const server of servers) {
    const { release } = reports.find((report) => report.server === server.name && report.member === undefined) ?? {};
    if (Number.parseInt(release ?? '', 10) < 6 || release === undefined) continue;
    if (await isOpenToAll(server, '/monitoring/health'))
      found.push(
        `${server.name}: ${server.url}/monitoring/ is open to everyone without credentials: close it at the proxy, or set rundeck.metrics.monitoring.enabled=false`,
      );
  }
  return found;
}

type Plan = { config: Config; enabled: typeof collectors; progress: Progress };

/** Checks a server. Values that differ by member are checked for each member. */
async function probeAll(server: ServerConfig, plan: Plan): Promise<ServerReport[]> {
  const { members } = server;
  const { enabled } = plan;
  if (members.length === 0) return [await probe(server, plan)];
  const common = enabled.filter(({ perMember }) => !perMember);
  const own = enabled.filter(({ perMember }) => perMember);
  return Promise.all([
    probe(server, { ...plan, enabled: common }),
    ...members.map(async ({ name, url }) => {
      const { server: ofServer, ...report } = await probe({ ...server, url }, { ...plan, enabled: own });
      return { server: ofServer, member: name, ...report };
    }),
  ]);
}

async function probe(server: ServerConfig, { config, enabled, progress }: Plan): Promise<ServerReport> {
  const planned = toProbes(server, config, enabled);
  const probes = planned.map((one, index) => ({
    ...one,
    ask: (api: Api) => {
      progress(`${server.name}: ${index + 1} of ${planned.length}, ${one.name}`);
      return one.ask(api);
    },
  }));
  const report = await askOnce(server, async (api) => {
    const found = await probeServer(server, api, probes);
    return found.credentials === 'accepted'
      ? { ...found, ...(await proveRights(server, api, config).catch(toNoRights)) }
      : found;
  });
  const remedy = report.credentials === 'refused' ? await findOtherDialect(server) : undefined;
  return remedy === undefined ? report : { ...report, remedy };
}

/** Returns no rights after an error. The lines of the endpoints already report a server that does not respond. */
function toNoRights(error: unknown): Partial<ServerReport> {
  if (error instanceof ApiError) return {};
  throw error;
}

/** Finds the dialect in which the credentials are accepted. A token in the header of the other dialect is refused. */
async function findOtherDialect(server: ServerConfig): Promise<string | undefined> {
  if (server.dialect === 'auto') return undefined;
  try {
    const found = await askOnce({ ...server, dialect: 'auto' }, async (api) => {
      await api.get(systemInfo);
      return api.server().dialect;
    });
    return `set \`dialect: ${found ?? 'auto'}\`: the server then accepts the credentials`;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Returns the configuration that disables the requests to an endpoint. */
function toSwitches(endpoint: string): string {
  const asking = collectors.filter(
    ({ name: own, reads }) => own === endpoint || reads.some(({ name }) => name === endpoint),
  );
  return asking.map(({ name }) => `collectors.${name}.enabled: false`).join(', ');
}

/** Renders a report. Policies that were already printed are not repeated. */
function renderReport(report: ServerReport, shown: Set<string>): string {
  const { url, reachable, credentials, dialect, apiVersion, release, endpoints } = report;
  const facts = [
    ['reachable', reachable ? 'yes' : 'no'],
    [
      'credentials',
      credentials === 'refused' ? 'refused: missing, wrong or expired; the server does not report which' : credentials,
    ],
    ['dialect', dialect ?? 'unknown'],
    ['API version', apiVersion === undefined ? 'unknown' : String(apiVersion)],
    ['release', release ?? 'unknown'],
  ];
  const names = [...facts.map(([name = '']) => name), ...endpoints.map(({ endpoint }) => endpoint)];
  const width = Math.max(...names.map(({ length }) => length)) + 2;
  const toLine = (name: string, value: string): string => `  ${name.padEnd(width)}${value}`;
  const lines = [`${toName(report)}  ${url}`, ...facts.map(([name = '', value = '']) => toLine(name, value))];
  const said = new Set<string>();
  for (const { endpoint, verdict, message, mendedBy, needs } of endpoints) {
    lines.push(toLine(endpoint, `${verdict}${message === undefined ? '' : `  (${message})`}`));
    if (mendedBy !== undefined && !said.has(mendedBy))
      lines.push(toLine('', `allow it in an access policy: ${mendedBy}`));
    if (mendedBy !== undefined) said.add(mendedBy);
    if (needs !== undefined)
      lines.push(toLine('', `needs ${needs}, or switch the collector off: ${toSwitches(endpoint)}`));
  }
  for (const { collector, may, missing } of report.rights ?? [])
    if (!may) lines.push(toLine('rights', `${collector} lacks: ${missing.join(', ')}`));
  if (report.rights?.every(({ may }) => may) === true)
    lines.push(toLine('rights', 'sufficient for every enabled collector'));
  lines.push(...toPolicyLines('This access policy allows what is denied or hidden:', report.missingPolicy, shown));
  const more = `warning: the token has more rights than an exporter needs: ${report.excess?.join(', ')}.`;
  lines.push(...toPolicyLines(`${more} Use this policy instead:`, report.leastPolicy, shown));
  lines.push(toClosing(report));
  return `${lines.join('\n')}\n`;
}

function toPolicyLines(title: string, policy: string | undefined, shown: Set<string>): string[] {
  if (policy === undefined || shown.has(policy)) return [];
  shown.add(policy);
  const lines = policy.trimEnd().split('\n');
  return ['', `  ${title}`, '', ...lines.map((line) => `    ${line}`), ''];
}

function toName({ server, member }: ServerReport): string {
  return member === undefined ? server : `${server}, member ${member}`;
}

/** Returns the last line of a report about several servers. The line names the servers with errors, because the report is long. */
function toTotal(reports: readonly ServerReport[]): string[] {
  if (reports.length < 2) return [];
  const wrong = reports.filter((report) => !isFine(report)).map(toName);
  const names = wrong.length === 0 ? '' : `: ${wrong.join('; ')}`;
  return [
    `${reports.length} servers and members checked: ${reports.length - wrong.length} ok, ${wrong.length} with problems${names}\n`,
  ];
}

function toClosing(report: ServerReport): string {
  const { reachable, credentials, endpoints, remedy } = report;
  const server = toName(report);
  if (isFine(report)) {
    const isAllReadable = endpoints.every(({ verdict }) => verdict !== 'denied');
    const isOld = endpoints.some(({ verdict }) => verdict === 'too old');
    return `${server}: every enabled endpoint is readable, ${isAllReadable ? 'or disabled' : 'for administrators only, or disabled'} on the server${isOld ? ', or too new for it' : ''}`;
  }
  if (!reachable) return `${server}: not reachable`;
  if (credentials === 'refused')
    return `${server}: the credentials are refused${remedy === undefined ? '' : `; ${remedy}`}`;
  if (remedy !== undefined) return `${server}: ${remedy}`;
  if (credentials === 'unknown')
    return `${server}: the address responds, but not with this API: ${endpoints[0]?.message ?? 'no reason'}`;
  const wrong = endpoints.filter((one) => !isFine({ ...report, endpoints: [one] })).map(({ endpoint }) => endpoint);
  return `${server}: problems with ${wrong.join(', ')}`;
}

/** Renders one line for each check that is not about an endpoint. */
function renderLive(reports: readonly LiveReport[]): string {
  const named = reports.map(({ name, server, ...report }) => {
    return { ...report, name: server === undefined ? name : `${name} of ${server}` };
  });
  const width = Math.max(...named.map(({ name }) => name.length)) + 2;
  return `live\n${named.map(({ name, verdict, message }) => `  ${name.padEnd(width)}${verdict}  (${message})\n`).join('')}`;
}
