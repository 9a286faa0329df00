import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { startDaemon } from './daemon.ts';
import { eventually } from './eventually.ts';

/** A process with `--expose-gc` that counts executions, reloads often, and prints its memory. */
const [yaml = '', token = '', executions = '', ...marks] = process.argv.slice(2);
const collect: unknown = Reflect.get(globalThis, 'gc');
if (typeof collect !== 'function') throw new Error('needs --expose-gc');
const daemon = await startDaemon({
  yaml,
  token,
  flags: ['--collector.disable-defaults', '--collector.executions'],
  // No collector listens at this address, so traces wait.
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
});
await eventually(tried, { everyMs: 20 });
process.stdout.write('ready\n');
await eventually(counted, { everyMs: 100, limitMs: 600_000 });
for (let reload = 1; reload <= Math.max(...marks.map(Number)); reload += 1) {
  const level = reload % 2 === 0 ? 'level: error' : 'level: warn';
  await daemon.app.reload(await daemon.load(yaml.replace('level: error', level)));
  await eventually(tried, { everyMs: 10 });
  if (marks.includes(String(reload))) process.stdout.write(`${JSON.stringify({ reload, ...(await measure()) })}\n`);
}
await daemon.stop();
process.exit();

/** Reports whether every vital poll has ended since the reload. */
async function tried(): Promise<void> {
  const { status } = await fetch(`${daemon.url}/-/ready`);
  if (status !== 200) throw new Error('not tried yet');
}

async function counted(): Promise<void> {
  const text = await daemon.metrics();
  const [, observed = '0'] = /automation_exporter_executions_observed_total\{[^}]*\} (\d+)/.exec(text) ?? [];
  if (Number(observed) < Number(executions)) throw new Error(`${observed} are counted`);
}

async function measure() {
  for (let round = 0; round < 4; round += 1) {
    Reflect.apply(collect as () => void, undefined, []);
    // Finalizers run in a later turn of the event loop, so the process waits for it.
    await setImmediate();
  }
  return {
    heap: process.memoryUsage().heapUsed,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    descriptors: readdirSync('/proc/self/fd').length,
  };
}
