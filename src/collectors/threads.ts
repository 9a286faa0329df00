import { threads } from '../api/endpoints/metrics.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const threadsCollector = defineCollector({
  name: 'threads',
  help: "Threads of the server's JVM by state; each poll makes the server write a full thread dump",
  every: '1m',
  on: false,
  perMember: true,
  reads: [threads],
  metrics: {
    threads: gauge('automation_app_threads', "Threads of the server's JVM by state [metrics/threads].", 'state'),
  },
  fetch: (api) => api.get(threads),
  map: (found, metrics) =>
    states.flatMap((state) => {
      const count = found.filter((name) => name === state).length;
      return metrics.threads.rows(count, { state: state.toLowerCase() });
    }),
});

const states = ['NEW', 'RUNNABLE', 'BLOCKED', 'WAITING', 'TIMED_WAITING', 'TERMINATED'];
