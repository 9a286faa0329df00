import * as z from 'zod';
import { toFileTree } from '../declare/catalogue.ts';
import { isOption, type Option, type OptionTree } from '../declare/option.ts';
import { type CollectorDefaults, type FamilyFacts, familyOptions } from '../declare/options.ts';
import { serverOptions } from '../declare/server-options.ts';

type JsonSchema = { readonly [key: string]: unknown };

export function toJsonSchema(collectors: readonly CollectorDefaults[], families: readonly FamilyFacts[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'automation-exporter configuration',
    ...toSection(toFileTree(collectors, families)),
    $defs: { family: toSection(familyOptions) },
  };
}

const descriptions: ReadonlyMap<string, string> = new Map([
  ['servers', 'The servers to watch.'],
  ['collectors', 'Collectors, by name, as in the label "collector".'],
  ['metrics', 'How metrics are served, and settings of each family by name.'],
]);

function toSection(tree: OptionTree): JsonSchema {
  const entries = Object.entries(tree);
  const required = entries.flatMap(([key, node]) => (isOption(node) && node.required ? [key] : []));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entries.map(([key, node]) => [key, toNode(key, node)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function toNode(key: string, node: OptionTree | Option<unknown>): JsonSchema {
  if (isOption(node)) return toLeaf(node);
  if (node === familyOptions) return { $ref: '#/$defs/family' };
  const description = descriptions.get(key);
  const section = node === serverOptions ? { type: 'array', items: toSection(node) } : toSection(node);
  return { ...(description === undefined ? {} : { description }), ...section };
}

function toLeaf({ type, fallback, help }: Option<unknown>): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(type.schema, { io: 'input', unrepresentable: 'any' });
  return {
    description: help,
    ...schema,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(type.examples.length === 0 ? {} : { examples: type.examples }),
  };
}
