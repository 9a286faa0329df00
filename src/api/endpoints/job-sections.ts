import { z } from 'zod';
import { defineEndpoint, largeListBytes, readDefinition } from '../endpoint.ts';

/** The parts of a definition. Texts of a definition may contain secrets, so compare the texts and store only hashes. */
type JobSections = {
  readonly sections: ReadonlyMap<string, string>;
  /** The paths of the keys in the definition. */
  readonly keys: readonly string[];
  /** The jobs that the job runs as steps: ids, or groups and names. */
  readonly children: readonly string[];
};

/** API reference, "Jobs": a whole definition, as JSON since API 44, as YAML before. */
export const jobSections = defineEndpoint({
  name: 'job-sections',
  path: 'job/{id}',
  query: ['format'],
  maxBytes: largeListBytes,
  since: 14,
  allowedBy: readDefinition,
  mayBeText: true,
  keepsLongTexts: true,
  body: z
    .union([z.string(), z.array(z.unknown())])
    .transform((answer): JobSections => (typeof answer === 'string' ? fromYaml(answer) : fromJson(answer[0]))),
});

type Fields = Readonly<Record<string, unknown>>;

function fromJson(definition: unknown): JobSections {
  const parts = new Map<string, unknown[]>();
  const put = (section: string, value: unknown): void => {
    parts.set(section, [...(parts.get(section) ?? []), value]);
  };
  for (const [name, value] of Object.entries(toFields(definition))) {
    const section = sectionOf(name);
    if (section === 'steps') putSequence(toFields(value), put);
    else if (section !== undefined) put(section, [name, value]);
  }
  const text = JSON.stringify(definition ?? null);
  return {
    sections: new Map([...parts].map(([section, values]) => [section, JSON.stringify(values)])),
    keys: findKeys(text),
    children: findChildren(toFields(toFields(definition)['sequence'])['commands']),
  };
}

function putSequence(
  { commands, pluginConfig, ...rest }: Fields,
  put: (section: string, value: unknown) => void,
): void {
  const steps = Array.isArray(commands) ? commands.map(toFields) : [];
  put('steps', [rest, steps.map(({ errorhandler: _handler, plugins: _plugins, ...step }) => step)]);
  const handlers = steps.map(({ errorhandler = null }) => errorhandler);
  if (handlers.some((handler) => handler !== null)) put('error handlers', handlers);
  const plugins = [pluginConfig ?? null, ...steps.map(({ plugins: own = null }) => own)];
  if (plugins.some((plugin) => plugin !== null)) put('plugins', plugins);
}

/** Reads sections of YAML: a key of the first level and the lines below it. Values are not interpreted. */
function fromYaml(text: string): JobSections {
  const parts = new Map<string, string>();
  let section: string | undefined;
  for (const line of text.split('\n')) {
    const [, name] = /^(?:- | {2})(\w[\w-]*):/.exec(line) ?? [];
    if (name !== undefined) section = sectionOf(name);
    if (section !== undefined) parts.set(section, `${parts.get(section) ?? ''}${line}\n`);
  }
  return { sections: parts, keys: findKeys(text), children: [] };
}

const namesBySection: Readonly<Record<string, readonly string[]>> = {
  steps: ['sequence'],
  options: ['options'],
  schedule: ['schedule', 'schedules', 'timeZone'],
  nodes: ['nodefilters', 'nodesSelectedByDefault', 'nodeFilterEditable', 'excludeFilterUncheck', 'orchestrator'],
  limits: [
    'timeout',
    'retry',
    'loglimit',
    'loglimitAction',
    'loglimitStatus',
    'loglevel',
    'multipleExecutions',
    'maxMultipleExecutions',
  ],
  notifications: ['notification', 'notifyAvgDurationThreshold'],
};

const sectionByName = new Map(
  Object.entries(namesBySection).flatMap(([section, names]) => names.map((name) => [name, section] as const)),
);

/** Fields that the list of jobs also has, or that do not affect runs. */
const elsewhere = new Set([
  'id',
  'uuid',
  'name',
  'group',
  'description',
  'scheduleEnabled',
  'executionEnabled',
  'user',
  'defaultTab',
]);

/** Returns the section of a field. Components of the server may add their own sections. */
function sectionOf(name: string): string | undefined {
  return elsewhere.has(name) ? undefined : (sectionByName.get(name) ?? 'plugins');
}

function findKeys(text: string): string[] {
  const found = text.match(/\bkeys(?:\/[\w.@+-]+)+/g) ?? [];
  return [...new Set(found)].slice(0, maxNames);
}

function findChildren(commands: unknown, depth = 0): string[] {
  if (!Array.isArray(commands) || depth > maxDepth) return [];
  const found = commands.map(toFields).flatMap((step) => {
    const { uuid, group, name } = toFields(step['jobref']);
    const own = typeof uuid === 'string' ? uuid : [group, name].filter((part) => typeof part === 'string').join('/');
    const below = findChildren(step['subSteps'], depth + 1);
    const ofHandler = findChildren([step['errorhandler']], depth + 1);
    return [...(own === '' ? [] : [own]), ...below, ...ofHandler];
  });
  return [...new Set(found)].slice(0, maxNames);
}

const maxNames = 50;
const maxDepth = 10;

function toFields(value: unknown): Fields {
  // This cast is safe: any object can be read by name.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
