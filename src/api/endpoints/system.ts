import { z } from 'zod';
import { toExecutionMode } from '../../domain/execution.ts';
import type { Dialect } from '../dialect.ts';
import { defineEndpoint, systemRead } from '../endpoint.ts';
import { flag, number, section, text, timestampMs } from '../lenient.ts';

export type SystemInfo = z.output<typeof systemInfoBody>;

const release = section({
  version: text,
  build: text,
  node: text,
  apiversion: z.unknown().optional(),
  serverUUID: text,
});

// A restricted caller gets only the release, and null for everything else (rundeck dialect, 4.4 and later).
const systemInfoBody = z
  .object({
    system: z.object({
      service: z.unknown().optional(),
      rundeck: z.unknown().optional(),
      timestamp: timestampMs,
      executions: section({ active: flag, executionMode: text }),
      os: section({ arch: text, name: text, version: text }),
      jvm: section({ name: text, vendor: text, version: text, implementationVersion: text }),
      stats: section({
        uptime: section({ since: timestampMs }),
        cpu: section({ loadAverage: section({ average: number }), processors: number }),
        memory: section({ max: number, free: number, total: number }),
        scheduler: section({ running: number, threadPoolSize: number }),
        threads: section({ active: number }),
      }),
    }),
  })
  .transform(({ system: { service, rundeck, timestamp, executions, ...rest } }) => {
    const { apiversion, ...server } = release.parse(rundeck ?? service);
    return {
      ...rest,
      dialect: dialectOf(service, rundeck),
      server: { ...server, apiVersion: text.parse(apiversion) },
      timestampMs: timestamp,
      // Any other value than the release proves that the caller is not restricted.
      isRestricted: ![timestamp, executions.active, executions.executionMode, rest.os.name, rest.jvm.name].some(
        (value) => value !== undefined,
      ),
      // Servers that write the version as text (4.3 and later) also cut the load to a whole number: 0, or 1 at full load.
      loadIsRounded: typeof apiversion === 'string',
      executionMode: toExecutionMode(executions.executionMode ?? modeOf(executions.active)),
    };
  });

export const systemInfo = defineEndpoint({
  name: 'system-info',
  path: 'system/info',
  since: 14,
  allowedBy: systemRead,
  body: systemInfoBody,
});

/** API reference, "Execution mode". Passive servers with API 32 to 35 return 503 with the same body. */
export const executionMode = defineEndpoint({
  name: 'execution-mode',
  path: 'system/executions/status',
  since: 32,
  allowedBy: systemRead,
  alsoAnswers: [503],
  body: z.object({ executionMode: z.string() }).transform((body) => toExecutionMode(body.executionMode)),
});

function dialectOf(service: unknown, rundeck: unknown): Dialect | undefined {
  if (isPart(rundeck)) return 'rundeck';
  return isPart(service) ? 'service' : undefined;
}

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function modeOf(active: boolean | undefined): string | undefined {
  if (active === undefined) return undefined;
  return active ? 'active' : 'passive';
}
