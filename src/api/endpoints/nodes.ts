import { z } from 'zod';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { toText } from '../lenient.ts';

/**
 * API reference, "Resources and node filters": the nodes of a project, with attributes that do not change by themselves. Below
 * API 23, the response is XML unless JSON is requested.
 */
export const projectNodes = defineEndpoint({
  name: 'project-nodes',
  path: 'project/{project}/resources',
  query: ['format'],
  maxBytes: largeListBytes,
  since: 14,
  allowedBy: [
    { type: 'resource', kind: 'node', allow: 'read' },
    { type: 'node', allow: 'read' },
  ],
  body: z.custom<object>(isMap, 'is not a map of nodes').transform(readNodes),
});

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type ProjectNode = {
  readonly name: string;
  readonly hostname: string | undefined;
  readonly username: string | undefined;
  readonly tags: string | undefined;
  readonly osFamily: string | undefined;
  readonly os: string;
  /** The paths of the keys of a node, by attribute. */
  readonly keys: readonly (readonly [attribute: string, path: string])[];
};

/** Reads nodes. Each attribute may be absent. */
function readNodes(nodes: object): readonly ProjectNode[] {
  return Object.entries(nodes).map(([name, node]: [string, unknown]): ProjectNode => {
    const attributes = new Map(Object.entries(typeof node === 'object' && node !== null ? node : {}));
    const read = (attribute: string): string | undefined => toText(attributes.get(attribute));
    const keys = [...attributes].filter(([attribute]) => attribute.endsWith('-storage-path'));
    return {
      name,
      hostname: read('hostname'),
      username: read('username'),
      tags: read('tags'),
      osFamily: read('osFamily'),
      os: [read('osFamily'), read('osName'), read('osVersion'), read('osArch')].join(' '),
      keys: keys
        .map(([attribute, path]) => [attribute, toText(path) ?? ''] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    };
  });
}
