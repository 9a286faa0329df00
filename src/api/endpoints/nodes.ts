import { z } from 'zod';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { toText } from '../lenient.ts';

/**
 * API reference, "Resources and node filters": the number of nodes for each family of operating systems. Below API 23,
 * the answer is XML unless JSON is requested.
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
  body: z.custom<object>(isMap, 'is not a map of nodes').transform(countFamilies),
});

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every attribute may be absent. */
function countFamilies(nodes: object): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of Object.values(nodes) as readonly unknown[]) {
    const isNode = typeof node === 'object' && node !== null;
    const family = (isNode && 'osFamily' in node ? toText(node.osFamily) : undefined) ?? '';
    counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  return counts;
}
