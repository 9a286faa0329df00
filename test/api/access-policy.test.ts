import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type AccessRight, toAccessPolicy, toAdminRight } from '../../src/api/access-policy.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';

const system = right({ type: 'resource', kind: 'system', allow: 'read' });
const users = right({ type: 'resource', kind: 'user', allow: 'admin' });
const project = right({ type: 'project', allow: 'read' });
const events = right({ type: 'resource', kind: 'event', allow: 'read' });
const jobs = right({ type: 'job', allow: 'view' });

describe('api/access-policy', () => {
  it('lists each rule once, under its subject', () => {
    expect(toAccessPolicy([system, users, system, project])).toBe(`description: what automation-exporter reads
context:
  application: rundeck
for:
  resource:
    - { equals: { kind: system }, allow: [read] }
    - { equals: { kind: user }, allow: [admin] }
  project:
    - { allow: [read] }
by:
  group: automation-exporter
`);
  });

  it('puts rights on the content of projects into the context of projects', () => {
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

  it('splits rights that need several rules', () => {
    const executions = right(...events.allowedBy, { type: 'job', allow: 'read' }, { type: 'adhoc', allow: 'read' });
    const execution = right({ type: 'job', allow: 'read' }, { type: 'adhoc', allow: 'read' });

    expect(toAccessPolicy([executions, execution, events])).toBe(`description: what automation-exporter reads
context:
  project: '.*'
for:
  resource:
    - { equals: { kind: event }, allow: [read] }
  job:
    - { allow: [read] }
  adhoc:
    - { allow: [read] }
by:
  group: automation-exporter
`);
  });

  it('has no endpoint that changes a server', () => {
    expect(toAdminRight(users)).toBe('user admin');
    expect(toAdminRight(right({ type: 'project', allow: 'configure' }))).toBe('project configure');
    expect([system, project, events, jobs].map(toAdminRight)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('allows the main requests on real servers', () => {
    const reads = collectors.flatMap((collector) => collector.reads).filter((read) => toAdminRight(read) === undefined);
    const documents = parseAllDocuments(toAccessPolicy(reads));
    const [application, projects]: unknown[] = documents.map((document) => document.toJS() as unknown);

    // Projects have a name but no kind, so a rule about a kind shows no project (rundeck dialect).
    expect(application).toMatchObject({ for: { project: [{ allow: ['read'] }] } });
    // Executions of a job are visible with the right on the job, other executions with the right on ad hoc commands.
    expect(projects).toMatchObject({
      for: {
        resource: [
          { equals: { kind: 'node' }, allow: ['read'] },
          { equals: { kind: 'event' }, allow: ['read'] },
        ],
        job: [{ allow: ['read'] }],
        adhoc: [{ allow: ['read'] }],
        node: [{ allow: ['read'] }],
      },
    });
  });

  it('writes valid YAML for every endpoint of the collectors', () => {
    const documents = parseAllDocuments(toAccessPolicy(collectors.flatMap(({ reads }) => reads)));

    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(documents[0]?.getIn(['for', 'resource', 0, 'equals', 'kind'])).toBe('system');
  });
});

function right(...allowedBy: readonly AccessRight[]) {
  return { allowedBy };
}
