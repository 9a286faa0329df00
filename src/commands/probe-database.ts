import type { Config } from '../config/config.ts';
import { systemClock } from '../system-clock.ts';
import type { LiveReport } from './live.ts';
import { toPostgresSettings } from './shared-state.ts';

/** From here a round of many commits takes seconds. */
const slowMs = 50;

/** Asks the database of the state for what replicas rely on; undefined where none is configured. */
export async function probeDatabase({ state }: Pick<Config, 'state'>): Promise<LiveReport | undefined> {
  const settings = toPostgresSettings(state.postgres);
  if (settings === undefined) return undefined;
  const name = 'state-database';
  const { inspectPostgres } = await import('../state/postgres/inspect.ts');
  try {
    const { host, port, user } = await settings.login();
    const { version, latencyMs, unsafe, isReadOnly, mayCreate } = await inspectPostgres(settings, systemClock);
    const found = `PostgreSQL ${version} at ${host}:${port} answers in ${latencyMs.toFixed(1)} ms`;
    if (isReadOnly) return { name, verdict: 'broken', message: `${found}, but only reads: connect to the primary` };
    if (!mayCreate) {
      const message = `${found}, but ${user} may not create tables in the schema ${settings.schema}`;
      return { name, verdict: 'broken', message };
    }
    if (unsafe.length > 0) {
      const message = `${found}; a crash may lose commits, because ${unsafe.join(' and ')} is off`;
      return { name, verdict: 'warning', message };
    }
    return { name, verdict: latencyMs < slowMs ? 'ok' : 'warning', message: found };
  } catch (error) {
    return { name, verdict: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
}
