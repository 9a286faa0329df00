import type { Api } from '../api/client.ts';
import type { ServerFacts } from '../api/contact.ts';
import { healthcheck } from '../api/endpoints/metrics.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

type Health = { checks: readonly { name: string; healthy: boolean }[]; server: ServerFacts };

export const healthcheckCollector = defineCollector({
  name: 'healthcheck',
  help: 'Health checks of the server itself, such as its database connection and thread pool',
  every: '30s',
  on: true,
  perMember: true,
  reads: [healthcheck],
  metrics: {
    healthy: gauge('automation_healthcheck_healthy', 'Whether a health check passes [metrics/healthcheck].', 'check'),
  },
  fetch: readHealth,
  complaints: ({ checks }) => {
    const failing = checks.filter(({ healthy }) => !healthy).map(({ name }) => name);
    if (failing.length === 0) return [];
    return [failing.length === 1 ? `health check ${failing[0]} fails` : `health checks fail: ${failing.join(', ')}`];
  },
  off: (health) => (isAlwaysHealthy(health) ? alwaysHealthy : undefined),
  map: ({ checks }, { healthy }) =>
    checks.flatMap((check) => healthy.rows(check.healthy ? 1 : 0, { check: check.name })),
});

const alwaysHealthy = {
  reason: 'meaningless',
  message: 'release 6 of the server runs no health checks: it always answers that all is well',
} as const;

async function readHealth(api: Api): Promise<Health> {
  const checks = await api.get(healthcheck);
  return { checks, server: api.server() };
}

/** Reports whether the checks are always healthy. Release 6 (rundeck dialect) returns one fixed entry, or gauges. */
function isAlwaysHealthy({ checks, server: { dialect, release } }: Health): boolean {
  if (dialect === 'rundeck' && Number.parseInt(release ?? '', 10) >= 6) return true;
  const [first, second] = checks;
  return second === undefined && first?.name === 'rundeck';
}
