import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { toAccessPolicy } from '../../src/api/access-policy.ts';
import { collectors } from '../../src/collectors/index.ts';

const system = { allowedBy: 'resource: [{ equals: { kind: system }, allow: [read] }]' };
const users = { allowedBy: 'resource: [{ equals: { kind: user }, allow: [admin] }]' };
const project = { allowedBy: 'project: [{ equals: { kind: project }, allow: [read] }]' };
const events = { allowedBy: 'resource: [{ equals: { kind: event }, allow: [read] }]' };
const jobs = { allowedBy: 'job: [{ allow: [view] }]' };

describe('api/access-policy', () => {
  it('names each rule once, under what it is about', () => {
    expect(toAccessPolicy([system, users, system, project])).toBe(`description: what automation-exporter reads
context:
  application: rundeck
for:
  resource:
    - { equals: { kind: system }, allow: [read] }
    - { equals: { kind: user }, allow: [admin] }
  project:
    - { equals: { kind: project }, allow: [read] }
by:
  group: automation-exporter
`);
  });

  it('allows what belongs to projects in the context of projects', () => {
    expect(toAccessPolicy([events, system, jobs], 'service')).toBe(`description: what automation-exporter reads
context:
  application: service
for:
  resource:
    - { equals: { kind: system }, allow: [read] }
by:
  group: automation-exporter
---
description: what automation-exporter reads
context:
  project: '.*'
for:
  resource:
    - { equals: { kind: event }, allow: [read] }
  job:
    - { allow: [view] }
by:
  group: automation-exporter
`);
  });

  it('gives YAML for everything that any collector reads', () => {
    const documents = parseAllDocuments(toAccessPolicy(collectors.flatMap(({ reads }) => reads)));

    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(documents[0]?.getIn(['for', 'resource', 0, 'equals', 'kind'])).toBe('system');
  });
});
