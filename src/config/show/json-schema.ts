import * as z from 'zod';
import { isOption, type Option, type OptionTree } from '../declare/option.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  type FamilyFacts,
  familyOptions,
  generalOptions,
} from '../declare/options.ts';
import { serverOptions } from '../declare/server-options.ts';

export type JsonSchema = { readonly [key: string]: unknown };

export function toJsonSchema(collectors: readonly CollectorDefaults[], families: readonly FamilyFacts[]): JsonSchema {
  const polled = collectors.map((collector) => [collector.name, toSection(defineCollectorOptions(collector))] as const);
  const { properties } = toSection(generalOptions);
  const ofMetrics = toSection(generalOptions.metrics);
  const ofFamilies = families.map(({ name }) => [name, { $ref: '#/$defs/family' }] as const);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'automation-exporter configuration',
    type: 'object',
    additionalProperties: false,
    properties: {
      servers: { description: 'The servers to watch.', type: 'array', items: toSection(serverOptions) },
      collectors: {
        description: 'What is collected, by the name it has in the label collector.',
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(polled),
      },
      ...properties,
      metrics: {
        description: 'How metrics are served, and what of each family, by name.',
        ...ofMetrics,
        properties: { ...ofMetrics.properties, ...Object.fromEntries(ofFamilies) },
      },
    },
    $defs: { family: toSection(familyOptions) },
  };
}

type Section = {
  type: 'object';
  additionalProperties: false;
  properties: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
};

function toSection(tree: OptionTree): Section {
  const entries = Object.entries(tree);
  const required = entries.flatMap(([key, node]) => (isOption(node) && node.required ? [key] : []));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      entries.map(([key, node]) => [key, isOption(node) ? toLeaf(node) : toSection(node)]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
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
