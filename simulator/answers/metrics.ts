import { refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { href, ok, parameter, text } from './answer.ts';
import { invalidRequest } from './errors.ts';
import { metricsData } from './metrics-data.ts';

/** The list of metrics endpoints that are switched on (API reference, "System information, metrics, log storage"). */
export function metricsList(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const entries: [string, unknown][] = names
    .filter((name) => isOn(request, name))
    .map((name) => [name, { href: href(request, `metrics/${name}`) }]);
  return ok({ _links: Object.fromEntries(entries) });
}

export function metricsEndpoint(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const name = parameter(request, 'name');
  if (!isOn(request, name)) return invalidRequest(request.world, `/api/${request.version}/metrics/${name}`);
  const isServlet = request.world.release.metrics === 'servlet';
  switch (name) {
    case 'metrics':
      return isServlet || request.world.settings.brokenGauges.length === 0 ? ok(metricsData(request)) : crash();
    case 'ping':
      return text(isServlet ? 'pong\n' : 'pong');
    case 'healthcheck':
      return isServlet ? healthcheck(request) : ok({ [request.world.dialect.metricPrefix]: { healthy: true } });
    default:
      return threads(request);
  }
}

/** One gauge that throws spoils the whole answer of 6.x. */
function crash(): Answer {
  return { status: 500, json: { error: 'A server error occurred' } };
}

const names = ['metrics', 'ping', 'threads', 'healthcheck'];

function isOn({ world }: ApiRequest, name: string): boolean {
  return world.settings.metricsOn && names.includes(name) && !world.settings.metricsDisabled.has(name);
}

function healthcheck(request: ApiRequest): Answer {
  const { world, member, nowMs } = request;
  const full = member.busy >= member.threadPoolSize;
  const pool = { healthy: !full, ...(full ? { message: `${member.busy}/${member.threadPoolSize} threads used` } : {}) };
  const checks: Record<string, { readonly healthy: boolean; readonly message?: string }> = {
    'dataSource.connection.time': { healthy: true, message: 'Datasource connection healthy with timeout 5 seconds' },
    'quartz.scheduler.threadPool': pool,
  };
  const { unhealthyCheck } = world.settings;
  if (unhealthyCheck !== undefined) checks[unhealthyCheck] = { healthy: false, message: 'Made to fail on demand' };
  const extra = world.release.asDocumented ? {} : { duration: 1, timestamp: new Date(nowMs).toISOString() };
  const json = Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, { ...check, ...extra }]));
  const healthy = Object.values(checks).every((check) => check.healthy);
  return { status: healthy ? 200 : 500, json };
}

function threads({ world, member }: ApiRequest): Answer {
  const all = ['main', 'scheduler-worker-1', ...Array.from({ length: member.busy }, (_, index) => `run-${index + 1}`)];
  if (world.release.metrics === 'controller') {
    return ok(all.map((name, index) => ({ name, id: index + 1, state: 'RUNNABLE', stackTrace: [] })));
  }
  return text(all.map((name, index) => `"${name}" id=${index + 1} state=RUNNABLE\n`).join('\n'));
}
