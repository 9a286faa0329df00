import { createApp } from '../app.ts';
import { createLog, type Log } from '../log.ts';
import { StateError } from '../state/state.ts';
import { type CommandContext, exitCodes } from './command.ts';
import type { Loaded } from './load.ts';

type RunOptions = {
  /** Called once everything listens. */
  readonly onStarted?: (url: string) => void;
};

/** Runs the daemon until it is told to end. */
export async function runApp(
  { config }: Loaded,
  { version, complain }: CommandContext,
  { onStarted }: RunOptions = {},
): Promise<number> {
  const secrets = new Set<string>();
  const log = createLog({ ...config.log, secrets: () => [...secrets] });
  const app = createApp({ config, log, version, onSecret: (value) => secrets.add(value) });
  const ending = nextSignal();
  try {
    const { url } = await app.start();
    log.info({ url, version, servers: config.servers.length }, 'serving');
    onStarted?.(url);
  } catch (error) {
    complain(`${explainStart(error, config.web.listenAddress.port)}\n`);
    return error instanceof StateError ? exitCodes.misconfigured : exitCodes.failed;
  }
  await endOn(await ending, log, app.stop);
  return exitCodes.well;
}

/** A stop that takes longer than this is no stop. */
const longestStopMs = 5000;

async function endOn(signal: NodeJS.Signals, log: Log, stop: () => Promise<void>): Promise<void> {
  log.info({ signal }, 'stopping');
  const tooLong = setTimeout(() => {
    log.error({ afterSeconds: longestStopMs / 1000 }, 'not stopped in time, leaving anyway');
    process.exit(exitCodes.failed);
  }, longestStopMs);
  await stop();
  clearTimeout(tooLong);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}

function explainStart(error: unknown, port: number): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use: stop what listens there, or choose another with --web.listen-address=:PORT`;
  }
  if (code === 'EACCES') return `port ${port} needs more rights: choose one above 1023 with --web.listen-address=:PORT`;
  if (code === 'EADDRNOTAVAIL') return `the address of --web.listen-address is none of this machine's`;
  return message ?? String(error);
}
