import { covers } from '../world/access.ts';
import type { NodeResource, Project } from '../world/installation.ts';
import { isAnswer, mayReadProject, openProject } from './access.ts';
import { type Answer, type ApiRequest, denied, href, missing, ok, parameter, text } from './answer.ts';
import { toObjectDate } from './dates.ts';

/** projects (API reference, "Project" and "Projects"): readable projects, by name. */
export function projectList(request: ApiRequest): Answer {
  const wanted = request.version >= 47 ? (request.query.get('meta') ?? '') : '';
  const list = [...request.world.projects.values()]
    .filter((project) => !project.deleted && mayReadProject(request, project.name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((project) => ({
      ...toProject(request, project),
      ...(wanted === '' ? {} : { meta: toMeta(request, project, wanted) }),
    }));
  return ok(list);
}

export function projectConfig(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  if (!request.caller.policy.configure) return denied(request, 'configure', 'Project', project.name);
  const key = parameter(request, 'key');
  const value = toConfig(project).get(key);
  if (value === undefined) return missing(request, 'property', key);
  const { asDocumented } = request.world.release;
  if (request.accept?.includes('text/plain') === true || !(asDocumented || request.accept?.includes('json') === true)) {
    return text(value);
  }
  // Real servers send key and value (≠ API reference, "Projects").
  return ok(asDocumented ? { [key]: value } : { key, value });
}

/** project/{project}/meta (v46). The fields of the answer are those of real servers. */
export function projectMeta(request: ApiRequest): Answer {
  const project = openProject(request);
  return isAnswer(project) ? project : ok(toMeta(request, project, request.query.get('meta') ?? '*'));
}

function toProject(request: ApiRequest, project: Project) {
  const { name, description, label, createdAtMs } = project;
  return {
    url: href(request, `project/${encodeURIComponent(name)}`),
    name,
    description,
    ...(request.version >= 26 ? { label } : {}),
    ...(request.version >= 33 ? { created: toObjectDate(createdAtMs, request.world.release) } : {}),
  };
}

function toMeta({ world }: ApiRequest, project: Project, wanted: string) {
  const names = wanted.split(',');
  const data = {
    config: { executionsEnabled: project.executionsEnabled, scheduleEnabled: project.scheduleEnabled },
    sysMode: { active: world.executionMode === 'active' },
  };
  return Object.entries(data)
    .filter(([name]) => names.includes(name) || names.includes('*'))
    .map(([name, value]) => ({ name, data: value }));
}

function toConfig(project: Project): Map<string, string> {
  const config = new Map(project.config);
  if (!project.executionsEnabled) config.set('project.disable.executions', 'true');
  if (!project.scheduleEnabled) config.set('project.disable.schedule', 'true');
  return config;
}

/** project/{project}/resources (API reference, "Resources and node filters"): node names with text attributes. */
export function projectNodes(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  if (!covers(request.caller.policy.nodes, project.name)) return denied(request, 'read', 'Resource', 'node');
  if (!covers(request.caller.policy.eachNode, project.name)) return inFormat(request, {});
  return inFormat(request, Object.fromEntries(project.nodes));
}

function inFormat(request: ApiRequest, nodes: Readonly<Record<string, NodeResource>>): Answer {
  const accepted = request.accept?.includes('json') === true ? 'json' : undefined;
  const format = request.query.get('format') ?? accepted ?? (request.version >= 23 ? 'json' : 'xml');
  return format === 'json'
    ? ok(nodes)
    : text('<?xml version="1.0" encoding="UTF-8"?>\n<project/>\n', 'text/xml;charset=UTF-8');
}
