import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOrComplain } from '../../src/commands/load.ts';
import { createLog } from '../../src/commands/log.ts';
import type { Config } from '../../src/config/config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { type App, createApp } from '../../src/daemon/daemon.ts';
import type { SelfTracing } from '../../src/daemon/self-tracing.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { readPushSettings } from '../../src/tracing/deliver/push-settings.ts';
import { type OtlpEnvironment, readOtlpSettings } from '../../src/tracing/deliver/settings.ts';

export type Daemon = {
  readonly url: string;
  readonly app: App;
  readonly directory: string;
  readonly logged: readonly string[];
  readonly load: (yaml: string) => Promise<Config>;
  readonly metrics: (query?: string) => Promise<string>;
  readonly stop: () => Promise<void>;
};

export type DaemonOptions = {
  /** The configuration; `TOKEN` stands for the path of the token's file. */
  readonly yaml: string;
  readonly token: string;
  readonly flags?: readonly string[];
  readonly clock?: Clock;
  readonly env?: OtlpEnvironment;
  readonly selfTracing?: SelfTracing;
  /** The directory of the state; if absent, the state is kept in memory. */
  readonly stateDirectory?: string;
};

/** Starts a daemon in this process, with a configuration file and on a free port. */
export async function startDaemon({
  yaml,
  token,
  flags = [],
  clock,
  env = {},
  selfTracing,
  stateDirectory,
}: DaemonOptions): Promise<Daemon> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-daemon-'));
  const tokenFile = join(directory, 'token');
  const file = join(directory, 'config.yaml');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  const state = stateDirectory === undefined ? '--state.memory' : `--state.dir=${stateDirectory}`;
  const argv = [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0', state, ...flags];
  const complain = (text: string): never => {
    throw new Error(text);
  };

  async function load(text: string): Promise<Config> {
    writeFileSync(file, text.replaceAll('TOKEN', tokenFile));
    const context = { env: {}, version: 'test', write: complain, complain };
    const loaded = await loadOrComplain({ ...context, arguments: parseArguments(argv, { collectors }) });
    if (loaded === undefined) throw new Error('the configuration is wrong');
    return loaded.config;
  }

  const config = await load(yaml);
  const logged: string[] = [];
  const log = createLog({ ...config.log, secrets: () => [token], write: (line) => logged.push(line) });
  const clocked = clock === undefined ? {} : { clock };
  const otlp = readOtlpSettings(env);
  const logs = readOtlpSettings(env, 'logs');
  if (!('endpoint' in otlp && 'endpoint' in logs)) throw new Error('the variables of OpenTelemetry are wrong');
  const push = readPushSettings(env);
  if (push !== undefined && !('endpoint' in push)) throw new Error('the variables of OpenTelemetry are wrong');
  const app = createApp({
    config,
    log,
    version: 'test',
    onSecret: () => undefined,
    otlp: { ...otlp, logs },
    push,
    selfTracing,
    ...clocked,
  });
  const { url } = await app.start();
  return {
    url,
    app,
    directory,
    logged,
    load,
    metrics: async (query = '') => (await fetch(`${url}/metrics${query}`)).text(),
    stop: async () => {
      await app.stop(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
