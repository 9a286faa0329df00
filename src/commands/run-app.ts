import type { Config } from '../config/config.ts';
import { type ReloadedConfig, reloadConfig } from '../config/reload.ts';
import { type App, createApp } from '../daemon/daemon.ts';
import { describeNames, describeOpenness, listFileExposures } from '../daemon/exposure.ts';
import type { SelfTracing } from '../daemon/self-tracing.ts';
import { sendsLogs, sendsTraces } from '../daemon/server-settings.ts';
import { type Clock, sleep } from '../domain/clock.ts';
import { formatComplaint, type ReloadOutcome } from '../domain/complaint.ts';
import type { Log } from '../domain/log.ts';
import { systemClock } from '../domain/system-clock.ts';
import { StateError } from '../state/state.ts';
import type { Otlp } from '../tracing/deliver/settings.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { explainFault } from './faults.ts';
import { createLineWriter, openStandardError } from './line-writer.ts';
import type { Loaded } from './load.ts';
import { createLog, type LogLevel } from './log.ts';
import { toOpenShared } from './shared-state.ts';
import { awaitStopSignal, onReloadSignals } from './stop-signals.ts';
import { loadBackendsOrComplain, secretsOfBackends } from './trace-backend.ts';
import { startWatchdog } from './watchdog.ts';

type RunOptions = { onStarted?: (url: string) => void };

export async function runApp(loaded: Loaded, context: CommandContext, { onStarted }: RunOptions = {}): Promise<number> {
  const { config } = loaded;
  const { version, env, complain } = context;
  const backends = await loadBackendsOrComplain(context, config);
  if (backends === undefined) return exitCodes.misconfigured;
  const secrets = new Set<string>(secretsOfBackends(backends));
  const write = createLineWriter(openStandardError(), (dropped) =>
    log.error({ dropped }, 'log lines dropped: standard error not read, or its disk full'),
  );
  const toLog = (level: LogLevel): Log => createLog({ ...config.log, level, secrets: () => [...secrets], write });
  let current = toLog(config.log.level);
  const log = forward(() => current);
  const leaveLate = (): never => process.exit(exitCodes.failed);
  const ending = awaitStopSignal({ log, clock: systemClock, leaveNow: leaveLate });
  const openShared = toOpenShared(config, (value) => secrets.add(value));
  const stateDirectory = config.state.memory || openShared !== undefined ? undefined : config.state.dir;
  warnOfFiles(log, loaded, stateDirectory);
  warnOfLogs(log, config, backends.otlp);
  warnOfMetrics(log, env);
  const reload = createReloading({
    loaded,
    log,
    apply: async (next) => {
      await app.reload(next);
      current = toLog(next.log.level);
      warnOfLogs(log, next, backends.otlp);
    },
    onOutcome: (outcome) => app.onReload(outcome),
    clock: systemClock,
  });
  const selfTracing = await loadSelfTracing(env, { version, log });
  const app: App = createApp({
    config,
    log,
    version,
    onSecret: (value) => secrets.add(value),
    ...backends,
    reload,
    selfTracing,
    ...(openShared === undefined ? {} : { openShared }),
  });
  // The listener of the daemon is the first, because the listener of the command line does not know the secrets.
  process.prependListener('uncaughtException', (error: unknown) => {
    log.error({ fault: explainFault(error) }, 'unexpected error, exiting');
    process.exit(exitCodes.failed);
  });
  try {
    const { url } = await app.start();
    const { otherServers } = loaded;
    log.info(
      { url, version, servers: config.servers.length, ...(otherServers > 0 ? { otherServers } : {}) },
      'serving',
    );
    for (const line of [describeOpenness(config), describeNames(config.web)]) {
      if (line !== undefined) log.info({}, line);
    }
    onStarted?.(url);
  } catch (error) {
    complain(`${explainStart(error, config.web.listenAddress.port)}\n`);
    // The exit codes differ, because a restart helps only with a database.
    const isOurs = error instanceof StateError && openShared === undefined;
    return isOurs ? exitCodes.misconfigured : exitCodes.failed;
  }
  // False during the stop, when nothing can be reloaded.
  let isServing = true;
  onReloadSignals(() => {
    if (isServing) void reload();
  });
  const endWatchdog = startWatchdog({ log, clock: systemClock });
  const signal = await ending;
  isServing = false;
  endWatchdog();
  log.info({ signal }, 'stopping');
  await endInTime({ log, clock: systemClock, leaveLate }, async (mayTake) => {
    await app.stop(mayTake);
    await selfTracing?.stop();
  });
  leaveSoon();
  return exitCodes.well;
}

function warnOfFiles(log: Log, { config, configFile, shadowed }: Loaded, stateDirectory: string | undefined): void {
  const exposures = listFileExposures({ configFile, webConfigFile: config.web.configFile, stateDirectory });
  for (const line of [...shadowed, ...exposures]) log.warn({}, line);
}

function warnOfLogs(log: Log, { diagnosis, traces }: Config, otlp: Otlp): void {
  if (otlp.logs?.isConfigured !== true || !sendsLogs(diagnosis) || sendsTraces(traces, otlp)) return;
  const fix = 'set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, and traces.enabled to auto';
  log.warn({}, `log records are not sent, because traces are not: ${fix}`);
}

function warnOfMetrics(log: Log, env: CommandContext['env']): void {
  const { OTEL_METRICS_EXPORTER: exporter = '', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint = '' } = env;
  const fix = 'set OTEL_METRICS_EXPORTER to otlp';
  if (exporter === '' && endpoint !== '')
    log.warn({}, `metrics are not pushed, although OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is set: ${fix}`);
}

/** Loads the SDK only if `OTEL_TRACES_EXPORTER` is set, to save time and memory. */
async function loadSelfTracing(
  { OTEL_TRACES_EXPORTER: wanted = '' }: CommandContext['env'],
  options: { version: string; log: Log },
): Promise<SelfTracing | undefined> {
  if (wanted.trim() === '' || wanted.trim() === 'none') return undefined;
  return (await import('../daemon/self-tracing.ts')).startSelfTracing(options);
}

/** Returns a log whose level can change while it is in use. */
function forward(current: () => Log): Log {
  return {
    debug: (fields, message) => current().debug(fields, message),
    info: (fields, message) => current().info(fields, message),
    warn: (fields, message) => current().warn(fields, message),
    error: (fields, message) => current().error(fields, message),
  };
}

/** Exits even if something keeps the process alive, such as a slow backend of the SDK or an unread log line. */
function leaveSoon(): void {
  // Without this call, Node removes its listeners before the process ends, and a late signal changes the exit code.
  process.once('beforeExit', () => process.exit());
  setTimeout(() => process.exit(exitCodes.well), 100).unref();
}

function explainStart(error: unknown, port: number): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'EADDRINUSE')
    return `port ${port} is in use: stop the program that uses it, or choose another with --web.listen-address=:PORT`;
  if (code === 'EACCES') return `port ${port} needs more rights: choose one above 1023 with --web.listen-address=:PORT`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return '--web.listen-address is not an address of this machine';
  return message ?? String(error);
}

type EndOptions = {
  log: Pick<Log, 'error'>;
  clock: Pick<typeof systemClock, 'after'>;
  /** Called if the work does not end in time. */
  leaveLate: () => void;
};

/** Ends something within a time limit. `stop` can extend the limit by calling `mayTake`. */
export async function endInTime(
  { log, clock, leaveLate }: EndOptions,
  stop: (mayTake: (ms: number) => void) => Promise<void>,
): Promise<void> {
  let cancel = watch(maxStopMs);
  function watch(ms: number): () => void {
    return clock.after(ms, () => {
      log.error({ afterSeconds: ms / 1000 }, 'shutdown timed out, exiting');
      leaveLate();
    });
  }
  await stop((ms) => {
    cancel();
    cancel = watch(maxStopMs + ms);
  });
  cancel();
}

/** The maximum duration of a stop without a large state. */
const maxStopMs = 5000;

type ReloadingOptions = {
  readonly loaded: Pick<Loaded, 'config' | 'loadAgain'>;
  readonly log: Log;
  /** Applies another configuration completely, or not at all. */
  readonly apply: (config: Config) => Promise<void>;
  readonly onOutcome: (outcome: ReloadOutcome) => void;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
};

/** Runs reloads one at a time and at most once a second. Calls during a reload share the next reload, which reads files again. */
export function createReloading({
  loaded,
  log,
  apply,
  onOutcome,
  clock,
}: ReloadingOptions): () => Promise<ReloadOutcome> {
  let running = loaded.config;
  let beganTicks = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<ReloadOutcome> | undefined;

  async function reloadNow(): Promise<ReloadOutcome> {
    const outcome = toOutcome(await attempt());
    onOutcome(outcome);
    if (outcome.ok) {
      for (const warning of outcome.warnings) log.warn({ option: warning }, 'not reloaded');
      log.info({ servers: running.servers.length }, 'configuration reloaded');
    } else {
      for (const complaint of outcome.complaints)
        log.error({ complaint }, 'configuration reload failed: previous configuration stays in force');
    }
    return outcome;
  }

  async function attempt(): Promise<ReloadedConfig> {
    try {
      const reloaded = await reloadConfig(loaded.loadAgain, running);
      if (!reloaded.ok) return reloaded;
      await apply(reloaded.config);
      running = reloaded.config;
      return reloaded;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, complaints: [{ place: 'reload', message }] };
    }
  }

  return () => {
    if (next !== undefined) return next;
    const asked = last.then(async () => {
      const waitMs = beganTicks + minApartMs - clock.ticks();
      if (waitMs > 0) await sleep(clock, waitMs);
      beganTicks = clock.ticks();
      next = undefined;
      return reloadNow();
    });
    next = asked;
    last = asked;
    return asked;
  };
}

/** The minimum time between reloads. Each reload sends all requests again. */
const minApartMs = 1000;

function toOutcome(reloaded: ReloadedConfig): ReloadOutcome {
  if (reloaded.ok) return { ok: true, warnings: reloaded.warnings.map(formatComplaint) };
  return { ok: false, complaints: reloaded.complaints.map(formatComplaint) };
}
