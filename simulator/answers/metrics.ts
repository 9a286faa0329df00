import { refuseSystem } from './access.ts';
import { type Answer, type ApiRequest, invalidRequest, ok, parameter, text } from './answer.ts';

export function metricsEndpoint(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return ofServlet(request, refusal);
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

/** monitoring/{name}: the content of the page outside the API. */
export function monitoring(request: ApiRequest): Answer {
  const { world, version } = request;
  const name = parameter(request, 'name');
  if (!world.settings.monitoring) return invalidRequest(world, `/api/${version}/monitoring/${name}`);
  return refuseSystem(request) ?? ok({ status: 'UP' });
}

/** Converts an error to the form of servlets. */
function ofServlet({ world: { release } }: ApiRequest, refusal: Answer): Answer {
  if (release.asDocumented || release.metrics !== 'servlet') return refusal;
  return { status: 401, json: { error: true, message: 'Unauthorized' } };
}

/** In 6.x, one failing gauge makes the whole response fail. */
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

/** metrics/metrics (API reference, "Metrics data") with the names that a real server registers. */
function metricsData(request: ApiRequest) {
  const { world, member } = request;
  const prefix = world.dialect.metricPrefix;
  const { storage, meters } = member;
  const queued = [...world.incomplete.values()].filter((entry) => entry.queued).length;
  const service = `${prefix}.services.ExecutionService`;
  const storageName = `${prefix}.services.LogFileStorageService.storageRequests`;
  const scheduled = [...world.jobs.values()].filter((job) => job.definition.schedule !== undefined).length;
  return {
    version: world.release.apiVersion < 39 ? '3.1.3' : '4.0.0',
    gauges: {
      'dataSource.connection.pingTime': { value: 1 },
      [`${prefix}.scheduler.quartz.runningExecutions`]: { value: member.busy },
      ...(world.release.poolGauge
        ? { [`${prefix}.scheduler.quartz.threadPoolSize`]: { value: member.threadPoolSize } }
        : {}),
      [`${prefix}.services.AuthorizationService.sourceCache.hitRate`]: { value: 0.97 },
      [`${prefix}.services.NodeService.nodeCache.hitRate`]: { value: null },
      [`${prefix}.services.ProjectManagerService.fileCache.loadExceptionRate`]: { value: 'NaN' },
      ...Object.fromEntries(
        world.settings.brokenGauges.map((name) => [name, { error: 'The gauge could not be read' }]),
      ),
    },
    counters: {
      [`${prefix}.scheduler.quartz.scheduledJobs`]: { count: scheduled },
      [`${storageName}.succeeded`]: { count: storage.succeeded },
      [`${storageName}.failed`]: { count: storage.failed },
      [`${storageName}.total`]: { count: storage.total },
      [`${storageName}.retries`]: { count: storage.retries },
      [`${storageName}.queued`]: { count: queued },
      [`${storageName}.running`]: { count: 0 },
      ...(world.release.metrics === 'controller' ? toLogins(request) : {}),
    },
    histograms: {},
    meters: {
      [`${service}.executionStartMeter`]: toMeter(request, meters.started),
      [`${service}.executionSuccessMeter`]: toMeter(request, meters.succeeded),
      [`${service}.executionFailureMeter`]: toMeter(request, meters.failed),
      [`${service}.executionAbortMeter`]: toMeter(request, meters.aborted),
    },
    timers: toTimers(request),
  };
}

/** Returns the counters that are new in the monitoring of 6.x. */
function toLogins({ member }: ApiRequest) {
  return {
    'userLogin.success': { count: 0 },
    'userLogin.failure': { count: 0 },
    'userLogout.success': { count: 0 },
    'apiAuthorization.success': { count: member.meters.requests },
    'apiAuthorization.failure': { count: 0 },
  };
}

function toTimers(request: ApiRequest): Record<string, unknown> {
  const { world, member } = request;
  const prefix = world.dialect.metricPrefix;
  const loads: [string, unknown][] = [...world.projects.keys()].map((name) => [
    `${prefix}.services.NodeService.project.${name}.loadNodes`,
    toTimer(request, 3, 0.004),
  ]);
  return {
    [`${prefix}.api.requests.requestTimer`]: toTimer(request, member.meters.requests, 0.012),
    [`${prefix}.web.requests.requestTimer`]: toTimer(request, Math.floor(member.meters.requests / 3), 0.034),
    [`${prefix}.quartzjobs.ExecutionJob.executionTimer`]: toTimer(request, member.meters.started, 38.5),
    ...Object.fromEntries(loads),
  };
}

function toMeter({ member, nowMs }: ApiRequest, count: number) {
  const upSeconds = Math.max(1, (nowMs - member.skewMs - member.startedAtMs) / 1000);
  const rate = count / upSeconds;
  return { count, m15_rate: rate, m1_rate: rate, m5_rate: rate, mean_rate: rate, units: 'events/second' };
}

function toTimer(request: ApiRequest, count: number, seconds: number) {
  const inNanoseconds = request.world.release.metrics === 'controller';
  const mean = inNanoseconds ? seconds * 1e9 : seconds;
  const { units: _units, ...rates } = toMeter(request, count);
  return {
    ...rates,
    max: mean * 4,
    mean,
    min: mean / 3,
    p50: mean,
    p75: mean * 1.2,
    p95: mean * 2,
    p98: mean * 2.5,
    p99: mean * 3,
    p999: mean * 4,
    stddev: mean / 5,
    duration_units: inNanoseconds ? 'nanoseconds' : 'seconds',
    rate_units: 'calls/second',
  };
}
