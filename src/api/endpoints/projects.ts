import { z } from 'zod';
import type { AccessRight } from '../access-policy.ts';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { flag, list, text, timestampMs, toText } from '../lenient.ts';

/** A project in the server's list; whether it is enabled is known only if API 47 is requested. */
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

/** Which of its two switches are on; undefined if the server does not report them. */
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

/** Rights on projects differ only by name: they have no `kind`. */
const readProject: readonly AccessRight[] = [{ type: 'project', allow: 'read' }];

/** API reference, "Projects": only projects that can be read, sorted by name. */
export const projects = defineEndpoint({
  name: 'projects',
  path: 'projects',
  since: 14,
  allowedBy: readProject,
  maxBytes: largeListBytes,
  body,
});

/** The same with a field of API 47: whether each project is enabled, in one request for all projects. */
export const projectsWithModes = defineEndpoint({ ...projects, query: ['meta'], since: 47 });

/** The same for one project, since API 46. It does not need the right to configure the project. */
export const projectMeta = defineEndpoint({
  name: 'project-meta',
  path: 'project/{project}/meta',
  query: ['meta'],
  since: 46,
  allowedBy: readProject,
  body: z.array(z.unknown()).transform(readModes),
});

/** API reference, "Projects": the switches of older servers, key by key. */
export const projectDisablesExecutions = configSwitch('project.disable.executions');
export const projectDisablesSchedule = configSwitch('project.disable.schedule');

/** A key of a project's configuration that is "true" or missing; for a missing key, the server answers 404. */
function configSwitch<const Key extends string>(key: Key) {
  return defineEndpoint({
    name: key.replaceAll('.', '-'),
    path: `project/{project}/config/${key}` as const,
    since: 14,
    allowedBy: [{ type: 'project', allow: 'configure' }],
    alsoAnswers: [404],
    body: z.record(z.string(), z.unknown()).transform((answer, context): boolean => {
      if (answer.errorCode === 'api.error.item.doesnotexist') return false;
      // The rundeck dialect returns `key` and `value`; the documents describe only the form of requests, with the key as name.
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
