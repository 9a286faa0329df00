import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { flag, text, timestampMs } from '../lenient.ts';

/** A project as the server lists it; whether it runs anything is told only by servers of API 47 that are asked for it. */
export type Project = {
  readonly name: string;
  readonly label: string | undefined;
  readonly createdAtMs: number | undefined;
  readonly executionsEnabled: boolean | undefined;
  readonly scheduleEnabled: boolean | undefined;
};

const metaConfig = z.object({
  name: z.literal('config'),
  data: z.object({ executionsEnabled: flag, scheduleEnabled: flag }),
});

const body = z.array(
  z
    .object({
      name: z.string(),
      label: text,
      created: timestampMs,
      meta: z.array(z.unknown()).optional().catch(undefined),
    })
    .transform(({ name, label, created, meta = [] }): Project => {
      const config = meta.map((part) => metaConfig.safeParse(part).data?.data).find((data) => data !== undefined);
      const { executionsEnabled, scheduleEnabled } = config ?? {};
      return { name, label, createdAtMs: created, executionsEnabled, scheduleEnabled };
    }),
);

const readProject = 'project: [{ equals: { kind: project }, allow: [read] }]';

/** Document A, 4.9: only the projects that may be read, sorted by name. */
export const projects = defineEndpoint({ name: 'projects', path: 'projects', since: 14, allowedBy: readProject, body });

/** The same with what API 47 adds: whether each project runs anything, for all of them in one request. */
export const projectsWithModes = defineEndpoint({ ...projects, query: ['meta'], since: 47 });
