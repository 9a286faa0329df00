import type { CollectorStatus, ServerStatus, TargetStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

/** Collectors of numbers that newer releases tell Prometheus themselves. */
const ownNumbers: readonly string[] = ['app-metrics', 'healthcheck', 'ping', 'threads'];
const absent: readonly (string | undefined)[] = ['not_found', 'meaningless'];

/**
 * Explains where newer releases of the `rundeck` dialect serve the metrics that this API lacks; a note, because it is not a
 * problem.
 */
export function renderOwnMetrics(server: ServerStatus): Html | undefined {
  const { dialect, release, apiVersion } = findFacts(server);
  if (dialect !== 'rundeck' || Number.parseInt(release ?? '', 10) < firstRelease || release === undefined)
    return undefined;
  const targets = server.members.length === 0 ? [server] : server.members;
  const names = new Set([server, ...targets].flatMap(({ collectors }) => collectors.filter(isAbsent).map(toName)));
  if (names.size === 0) return undefined;
  const lines = toScrapeConfig(targets, apiVersion);
  return html`<div class="hint"><h3>Metrics that this release serves itself</h3>
<p>Rundeck ${firstRelease} and newer no longer serve ${[...names].join(', ')} over this API unless the legacy metrics are enabled.
They serve JVM and HTTP request metrics at <code>monitoring/prometheus</code>: add it as a scrape target of Prometheus 2.55 or newer.</p>
<pre tabindex="0"><code>${lines}</code></pre></div>
`;
}

const firstRelease = 6;

/** Of a cluster each member was met for itself. */
function findFacts(server: ServerStatus): TargetStatus {
  return [server, ...server.members].find(({ release }) => release !== undefined) ?? server;
}

function isAbsent({ name, result, reason }: CollectorStatus): boolean {
  return result === 'off' && absent.includes(reason) && ownNumbers.includes(name);
}

function toName({ name }: CollectorStatus): string {
  return name;
}

/** Lists only hosts: an address may hold more than Prometheus is to see. */
function toScrapeConfig(targets: readonly TargetStatus[], apiVersion = 47): string {
  const urls = targets.map(({ url }) => URL.parse(url)).filter((url) => url !== null);
  const [first] = urls;
  const path = `${first?.pathname.replace(/\/+$/, '') ?? ''}/api/${apiVersion}/monitoring/prometheus`;
  return `scrape_configs:
  - job_name: rundeck
    scheme: ${first?.protocol.replace(':', '') ?? 'https'}
    metrics_path: ${JSON.stringify(path)}
    http_headers:
      X-Rundeck-Auth-Token: { files: [/run/secrets/automation-token] }
    static_configs:
      - targets: [${urls.map(({ host }) => JSON.stringify(host)).join(', ')}]
`;
}
