import type { Endpoint } from '../../api/endpoint.ts';
import { jobSections } from '../../api/endpoints/job-sections.ts';
import { jobInfo, projectJobs } from '../../api/endpoints/jobs.ts';
import { projectNodes } from '../../api/endpoints/nodes.ts';
import { pluginList } from '../../api/endpoints/plugins.ts';
import {
  type ProjectModes,
  projectDisablesExecutions,
  projectDisablesSchedule,
  projectMeta,
  projects,
} from '../../api/endpoints/projects.ts';
import { type KeyFolder, storedKeys, storedKeysBelow } from '../../api/endpoints/storage.ts';
import { executionMode, systemInfo } from '../../api/endpoints/system.ts';
import type { Area, Fields, Reading } from './deciding/areas.ts';
import { areas, toFields } from './deciding/kinds.ts';

/** A response of the server to a request of any poll. */
export type Answer = {
  /** The member that responded; undefined if unknown. */
  readonly member: string | undefined;
  readonly endpoint: Endpoint<unknown>;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly answer: unknown;
};

type Seen = Omit<Reading, 'fromMs' | 'throughMs'> & { readonly folders?: readonly string[] };

type Known = {
  readonly areas: ReadonlyMap<string, Area>;
  /** Hashes texts that are long or may be secret. */
  readonly hash: (text: string) => string;
  readonly release: () => string | undefined;
  /** True if names of users may be stored. */
  readonly namesUsers: boolean;
};

export function createToReadings(): (answer: Answer, known: Known) => readonly Seen[] {
  const uuids = new Map<string, string>();
  return ({ member, endpoint, path, answer }, known) => {
    if (isOf(systemInfo, endpoint, answer)) {
      uuids.set(member ?? '', answer.server.serverUUID ?? '');
      return [readServer(answer, member)];
    }
    if (isOf(executionMode, endpoint, answer)) {
      const uuid = uuids.get(member ?? '');
      if (uuid === undefined) return [];
      return [{ area: areas.server, things: new Map([[uuid, toFields({ mode: answer })]]), isPart: true }];
    }
    if (isOf(projects, endpoint, answer)) return [readProjects(answer)];
    if (isOf(storedKeys, endpoint, answer)) return readFolder('', answer, known);
    if (isOf(storedKeysBelow, endpoint, answer)) return readFolder(path['folder'] ?? '', answer, known);
    if (isOf(pluginList, endpoint, answer)) return [readPlugins(answer, known)];
    const { project, id } = path;
    if (isOf(projectJobs, endpoint, answer) && project !== undefined) return [readJobs(project, answer, known)];
    if (project !== undefined && modesEndpoints.has(endpoint.name)) return [readModes(project, endpoint, answer)];
    if (isOf(projectNodes, endpoint, answer) && project !== undefined) return [readNodes(project, answer, known)];
    if (isOf(jobInfo, endpoint, answer) && id !== undefined) return readEdit(id, answer, known);
    if (isOf(jobSections, endpoint, answer) && id !== undefined) return [readDefinition(id, answer, known)];
    return [];
  };
}

function readServer({ server, stats, executionMode: mode }: Content<typeof systemInfo>, member?: string): Seen {
  const uuid = server.serverUUID ?? '';
  const name = member ?? (uuid === '' ? '' : (server.node ?? uuid));
  const start = stats.uptime.since?.toString();
  const fields = toFields({ release: server.version, start, mode, '.name': name });
  return { area: areas.server, things: new Map([[uuid, fields]]), isPart: true };
}

/** Returns the plugins as an area. Plugins are loaded when the server starts; a release contains some of the plugins. */
function readPlugins(answer: Content<typeof pluginList>, { areas: known, release }: Known): Seen {
  const [server] = known.get(areas.server)?.things.values() ?? [];
  const things = answer.map(
    ({ service, name, version }) => [`${service} ${name}`, toFields({ version, '.at': server?.['start'] })] as const,
  );
  return { area: areas.plugins, things: new Map(things), ...toBasis(release()) };
}

function toBasis(basis: string | undefined): Pick<Seen, 'basis'> {
  return basis === undefined ? {} : { basis };
}

function readProjects(answer: Content<typeof projects>): Seen {
  const things = answer.map(({ name, ...modes }) => [name, toSwitches(modes)] as const);
  return { area: areas.projects, things: new Map(things), mayBeEmpty: true };
}

const modesEndpoints = new Set(
  [projectMeta, projectDisablesExecutions, projectDisablesSchedule].map(({ name }) => name),
);

/** On older servers, each answer about the switches of a project is an area. */
function readModes(project: string, endpoint: Endpoint<unknown>, answer: unknown): Seen {
  const modes = isOf(projectMeta, endpoint, answer)
    ? answer
    : endpoint.name === projectDisablesExecutions.name
      ? { executionsEnabled: answer !== true }
      : { scheduleEnabled: answer !== true };
  return { area: `${areas.modesOf(project)}${endpoint.name}`, things: new Map([[project, toSwitches(modes)]]) };
}

function toSwitches({ executionsEnabled, scheduleEnabled }: Partial<ProjectModes>): Fields {
  return toFields({ executions: toSwitch(executionsEnabled), schedule: toSwitch(scheduleEnabled) });
}

function readJobs(project: string, answer: Content<typeof projectJobs>, { namesUsers }: Known): Seen {
  const things = answer.map(({ id, group, name, isEnabled, isScheduleEnabled, ownerUuid, ...job }) => {
    const path = group === '' ? name : `${group}/${name}`;
    const switches = { executions: toSwitch(isEnabled), schedule: toSwitch(isScheduleEnabled) };
    const edit = { '.modified': job.lastModifiedMs?.toString(), '.by': namesUsers ? job.lastModifiedBy : undefined };
    return [id, toFields({ path, ...switches, owner: ownerUuid, ...edit })] as const;
  });
  return { area: areas.jobsOf(project), things: new Map(things), mayBeEmpty: true };
}

function readNodes(project: string, answer: Content<typeof projectNodes>, { hash }: Known): Seen {
  const things = answer.map(({ name, hostname = '', username = '', tags = '', os, keys }): [string, Fields] => {
    const sorted = tags
      .split(',')
      .map((tag) => tag.trim())
      .sort();
    const fields = { hostname, username, tags: sorted.join(), os, 'key paths': JSON.stringify(keys) };
    const hashed = Object.entries(fields).map(([field, value]) => [field, hash(value)] as const);
    const paths = keys.map(([, path]) => path.replace(/^\/+/, '')).join('\n');
    return [name, { ...Object.fromEntries(hashed), ...(paths === '' ? {} : { '.keys': paths }) }];
  });
  return { area: areas.nodesOf(project), things: new Map(things), mayBeStale: true, mayBeEmpty: true };
}

function readDefinition(id: string, { sections, keys, children }: Content<typeof jobSections>, known: Known): Seen {
  const hashed = allSections.map((name) => [name, known.hash(sections.get(name) ?? '')] as const);
  const fields = { ...Object.fromEntries(hashed), '.keys': keys.join('\n'), '.children': children.join('\n') };
  return { area: areas.definitionOf(id), things: new Map([['', fields]]), ...toBasis(known.release()) };
}

/** Returns the edit of a job, unless the definition was read after it. Other polls read the edits of all jobs. */
function readEdit(id: string, { lastModifiedMs = 0, lastModifiedBy }: Content<typeof jobInfo>, known: Known): Seen[] {
  const { readMs = Number.POSITIVE_INFINITY } = known.areas.get(areas.definitionOf(id)) ?? {};
  if (lastModifiedMs <= readMs) return [];
  const fields = toFields({
    '.modified': String(lastModifiedMs),
    '.by': known.namesUsers ? lastModifiedBy : undefined,
  });
  return [{ area: areas.editOf(id), things: new Map([['', fields]]) }];
}

const allSections = [
  'steps',
  'error handlers',
  'options',
  'schedule',
  'nodes',
  'limits',
  'notifications',
  'plugins',
] as const;

/** Returns a folder. Also returns its former subfolders, as empty folders, because a folder disappears with its last key. */
function readFolder(folder: string, { keys, folders }: KeyFolder, known: Known): readonly Seen[] {
  const things = keys.map(({ path, modifiedMs, modifiedBy }) => {
    const at = modifiedMs?.toString();
    return [path, toFields({ modified: at, '.at': at, '.by': known.namesUsers ? modifiedBy : undefined })] as const;
  });
  const here = folder === '' ? areas.keysIn('') : areas.keysIn(`${folder}/`);
  const there = new Set(folders.map((names) => names.join('/')));
  const gone = [...known.areas.keys()].filter((area) => {
    if (!area.startsWith(here) || area === areas.keysIn(folder)) return false;
    const below = area.slice(areas.keysIn('').length);
    return ![...there].some((name) => below === name || below.startsWith(`${name}/`));
  });
  return [
    { area: areas.keysIn(folder), things: new Map(things), mayBeEmpty: folder === '', folders: [...there] },
    ...gone.map((area) => ({ area, things: new Map<string, Fields>(), mayBeEmpty: folder === '' })),
  ];
}

function toSwitch(isOn: boolean | undefined): string | undefined {
  return isOn === undefined ? undefined : isOn ? 'on' : 'off';
}

type Content<Of> = Of extends Endpoint<infer Answered> ? Answered : never;

function isOf<Content>(wanted: Endpoint<Content>, endpoint: Endpoint<unknown>, answer: unknown): answer is Content {
  return wanted.name === endpoint.name && answer !== null && answer !== undefined;
}
