import { z } from 'zod';
import type { AccessRight } from '../access-policy.ts';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { flag, list, text, timestampMs, toText } from '../lenient.ts';

/** A project in the list of the server. Only API 47 and later report whether a project is enabled. */
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

/** Whether each of the two switches of a project is on; undefined if the server does not report it. */
export type ProjectModes = Pick<Project, 'executionsEnabled' | 'scheduleEnabled'>;

const body = list(
  z
    .object({
      name: z.string(),
      label: text,
      created: timestampMs,
      meta: z.array(z.unknown()).optional().catch(undefined),
    })
    .transform(({ name, label, created, meta = [] }): Project => {
      return { name, label, createdAtMs: created, ...readModes(meta) };
    }),
);

/** The right to read a project. Rights on projects have no `kind`. */
const readProject: readonly AccessRight[] = [{ type: 'project', allow: 'read' }];

/** API reference, "Projects": the readable projects, sorted by name. */
export const projects = defineEndpoint({
  name: 'projects',
  path: 'projects',
  since: 14,
  allowedBy: readProject,
  maxBytes: largeListBytes,
  body,
});

/** `projects` with a field of API 47: whether each project is enabled. */
export const projectsWithModes = defineEndpoint({ ...projects, query: ['meta'], since: 47 });

/** The switches of one project, since API 46. The request does not need the right to configure the project. */
export const projectMeta = defineEndpoint({
  name: 'project-meta',
  path: 'project/{project}/meta',
  query: ['meta'],
  since: 46,
  allowedBy: readProject,
  body: z.array(z.unknown()).transform(readModes),
});

/** API reference, "Projects": the switches of a project on older servers, one key per request. */
export const projectDisablesExecutions = configSwitch('project.disable.executions');
export const projectDisablesSchedule = configSwitch('project.disable.schedule');

/** A key in the configuration of a project. The value is "true"; for a missing key, the server returns 404. */
function configSwitch<const Key extends string>(key: Key) {
  return defineEndpoint({
    name: key.replaceAll('.', '-'),
    path: `project/{project}/config/${key}` as const,
    since: 14,
    allowedBy: [{ type: 'project', allow: 'configure' }],
    alsoAnswers: [404],
    body: z.record(z.string(), z.unknown()).transform((answer, context): boolean => {
      if (answer.errorCode === 'api.error.item.doesnotexist') return false;
      // The rundeck dialect returns `key` and `value`. The documents describe only requests, which have the key as a name.
      const value = answer.key === key ? answer.value : answer[key];
      if (value === undefined) context.addIssue(`has no value of ${key}`);
      return toText(value) === 'true';
    }),
  });
}

function readModes(meta: readonly unknown[]): ProjectModes {
  const config = meta.map((part) => metaConfig.safeParse(part).data?.data).find((data) => data !== undefined);
  return { executionsEnabled: config?.executionsEnabled, scheduleEnabled: config?.scheduleEnabled };
}
