import { describe, expect, it } from 'vitest';
import { jobWorkflow } from '../../src/api/endpoints/job-workflow.ts';

const plain = { description: undefined, target: undefined, jobId: undefined, workflow: undefined, handler: undefined };

describe('api/endpoints/job-workflow', () => {
  it('ignores commands and scripts', () => {
    const answer = {
      workflow: [
        { exec: 'canary', description: 'say it', errorhandler: { exec: 'canary' } },
        { script: 'canary', args: 'canary' },
        { jobref: { group: 'g', name: 'child', nodeStep: 'true' }, jobId: 'c', workflow: [{ scripturl: 'canary' }] },
        { type: 'report', nodeStep: false, configuration: { key: 'canary' } },
        { exec: 'x', errorhandler: { jobref: { name: 'rescue' } }, ehJobId: 'r', ehWorkflow: [{ exec: 'x' }] },
      ],
    };
    const read = jobWorkflow.body.parse(answer);
    const command = { ...plain, kind: 'command', isNodeStep: true };
    const script = { ...plain, kind: 'script', isNodeStep: true };
    const reference = { ...plain, kind: 'reference', isNodeStep: false };
    expect(read).toEqual([
      { ...command, description: 'say it', handler: command },
      script,
      { ...reference, target: 'child', isNodeStep: true, jobId: 'c', workflow: [script] },
      { ...plain, kind: 'plugin', target: 'report', isNodeStep: false },
      { ...command, handler: { ...reference, target: 'rescue', jobId: 'r', workflow: [command] } },
    ]);
    expect(JSON.stringify(read)).not.toContain('canary');
  });

  it('also reads the keys of the documents', () => {
    const answer = { workflow: [{ jobRef: { name: 'child', nodeStep: false }, errorHandler: { script: 'true' } }] };
    expect(jobWorkflow.body.parse(answer)).toMatchObject([
      { kind: 'reference', target: 'child', isNodeStep: false, handler: { kind: 'script' } },
    ]);
  });

  it('recognizes the plugins for commands and scripts', () => {
    const types = ['exec-command', 'script-inline', 'script-file-url', 'ansible-playbook'];
    const answer = { workflow: types.map((type) => ({ type, nodeStep: true })) };
    expect(jobWorkflow.body.parse(answer)).toEqual([
      { ...plain, kind: 'command', isNodeStep: true },
      { ...plain, kind: 'script', isNodeStep: true },
      { ...plain, kind: 'script', isNodeStep: true },
      { ...plain, kind: 'plugin', target: 'ansible-playbook', isNodeStep: true },
    ]);
  });

  it('reads twenty levels of references', () => {
    let workflow: unknown[] = [];
    let handler: unknown;
    for (let depth = 0; depth < 30; depth += 1) {
      workflow = [{ jobref: { name: 'again' }, workflow }];
      handler = { exec: 'x', errorhandler: handler };
    }
    const text = JSON.stringify(jobWorkflow.body.parse({ workflow: [...workflow, handler] }));
    expect(text.match(/"kind":"reference"/g)).toHaveLength(20);
    expect(text.match(/"kind":"command"/g)).toHaveLength(21);
  });

  it('limits the depth of references that never end', () => {
    let workflow: unknown[] = [];
    for (let depth = 0; depth < 20_000; depth += 1) workflow = [{ jobref: { name: 'again' }, workflow }];
    expect(jobWorkflow.body.safeParse({ workflow }).success).toBe(true);
  });
});
