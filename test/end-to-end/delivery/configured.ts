import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOrComplain } from '../../../src/commands/load.ts';
import { parseArguments } from '../../../src/config/read/command-line.ts';
import { collectors } from '../../../src/daemon/catalogue/collectors.ts';
import type { TracingOrder } from './tracing.ts';

/** Loads the trace settings of a configuration with these lines. */
export async function configure(url: string, ...traces: readonly string[]): Promise<Omit<TracingOrder, 'env'>> {
  const dir = mkdtempSync(join(tmpdir(), 'delivery-config-'));
  try {
    const file = join(dir, 'config.yaml');
    const tokenFile = join(dir, 'token');
    writeFileSync(tokenFile, 'unused-token\n', { mode: 0o600 });
    const server = `{ name: upstream, url: '${url}', token_file: ${tokenFile}, timeout: 10m }`;
    writeFileSync(file, [`servers: [${server}]`, 'traces:', ...traces.map((line) => `  ${line}`), ''].join('\n'));
    const argv = [`--config.file=${file}`];
    const complain = (text: string): never => {
      throw new Error(text);
    };
    const context = { env: {}, version: 'test', write: complain, complain };
    const loaded = await loadOrComplain({ ...context, arguments: parseArguments(argv, { collectors }) });
    const [only] = loaded?.config.servers ?? [];
    if (loaded === undefined || only === undefined) throw new Error('the configuration is wrong');
    const { name, namespace, timeoutMs } = only;
    return { traces: loaded.config.traces, server: { name, url, namespace, timeoutMs } };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
