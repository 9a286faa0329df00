import { stringify } from 'yaml';
import { covers } from '../world/access.ts';
import type { NodeResource } from '../world/project.ts';
import { isAnswer, openProject } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { ok, parameter, text } from './answer.ts';
import { denied, fail, missing } from './errors.ts';

/**
 * project/{project}/resources (API reference, "Resources and node filters"): a map of node names to attributes, all of
 * them text.
 */
export function projectNodes(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  if (!covers(request.caller.policy.nodes, project.name)) return denied(request, 'read', 'Resource', 'node');
  if (!covers(request.caller.policy.eachNode, project.name)) return inFormat(request, {});
  const filter = request.query.get('filter') ?? '';
  return inFormat(request, Object.fromEntries([...project.nodes].filter(([, node]) => matches(node, filter))));
}

export function oneNode(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  if (!covers(request.caller.policy.nodes, project.name)) return denied(request, 'read', 'Resource', 'node');
  const name = parameter(request, 'name');
  const node = project.nodes.get(name);
  return node === undefined ? missing(request, 'Node Name', name) : inFormat(request, { [name]: node });
}

function inFormat(request: ApiRequest, nodes: Readonly<Record<string, NodeResource>>): Answer {
  const accepted = request.accept?.includes('json') === true ? 'json' : undefined;
  const format = request.query.get('format') ?? accepted ?? (request.version >= 23 ? 'json' : 'xml');
  switch (format) {
    case 'json':
      return ok(nodes);
    case 'yaml':
      return text(stringify(nodes), 'application/yaml;charset=UTF-8');
    case 'xml':
      return text('<?xml version="1.0" encoding="UTF-8"?>\n<project/>\n', 'text/xml;charset=UTF-8');
    default:
      return fail(request, 415, 'api.error.item.unsupported-format', [`The format is not valid: ${format}`, format]);
  }
}

/** `attribute: value attribute2: value2`, each value matched as a whole, tags one by one. */
function matches(node: NodeResource, filter: string): boolean {
  for (const [, name = '', value = ''] of filter.matchAll(/([\w-]+):\s*(\S+)/g)) {
    const actual = node[name === 'name' ? 'nodename' : name] ?? '';
    const parts = name === 'tags' ? actual.split(/,\s*/) : [actual];
    if (value !== '.*' && !parts.includes(value)) return false;
  }
  return true;
}
