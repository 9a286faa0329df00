import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../src/domain/system-clock.ts';
import { startDaemon } from '../../test/support/daemon.ts';

/**
 * The daemon in its own process, with `--expose-gc`, a clock that is many times faster, and its state on a disk. The
 * process answers `measure` with its sizes, and reloads on `reload`.
 */
const [yaml = '', token = '', stateDirectory = '', traces = '', speedText = '1', startText = '0'] =
  process.argv.slice(2);
// The command line sets these flags at its start.
for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
const speed = Number(speedText);
const startMs = Number(startText);
const collect: unknown = Reflect.get(globalThis, 'gc');
if (typeof collect !== 'function') throw new Error('needs --expose-gc');
const daemon = await startDaemon({
  yaml,
  token,
  stateDirectory,
  // On the fast clock, the default timeout would be too short.
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: traces, OTEL_EXPORTER_OTLP_TIMEOUT: '600000' },
  clock: {
    ...systemClock,
    now: () => startMs + (Date.now() - startMs) * speed,
    ticks: () => performance.now() * speed,
    after: (ms, run) => systemClock.after(ms / speed, run),
  },
});
say({ url: daemon.url });
let reloads = 0;
for await (const chunk of process.stdin) {
  for (const order of String(chunk).trim().split('\n')) {
    if (order === 'reload') {
      reloads += 1;
      await daemon.app.reload(
        await daemon.load(yaml.replace('level: error', `level: ${reloads % 2 === 0 ? 'error' : 'warn'}`)),
      );
    }
    if (order === 'measure') say({ ...(await measure()), reloads });
  }
}
await daemon.stop();
process.exit();

function say(words: object): void {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

async function measure() {
  const rssMb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
  for (let round = 0; round < 4; round += 1) {
    Reflect.apply(collect as () => void, undefined, []);
    await setImmediate();
  }
  return {
    rssMb,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    descriptors: readdirSync('/proc/self/fd').length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    stateMb: readdirSync(stateDirectory).reduce((sum, file) => sum + sizeOf(join(stateDirectory, file)), 0) / 2 ** 20,
    logged: daemon.logged.length,
    lastLogged: daemon.logged.at(-1) ?? '',
  };
}

/** Returns the size of a file, which may be renamed meanwhile. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
