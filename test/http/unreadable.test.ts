import { describe, expect, it } from 'vitest';
import { frontPageRoute } from '../../src/http/pages/front/front-page.ts';
import type { ExecutionsOfServer, ServerStatus } from '../../src/status/status.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { collector, executions, server, status } from './some-status.ts';

async function read(given: Partial<ServerStatus>): Promise<string> {
  const servers = [server('prod', { collectors: [], ...given })];
  const options = { metricsPath: '/metrics', status: async () => status(...servers), hasPage: () => false };
  const { ask } = await serve([frontPageRoute(options)]);
  return toText((await ask('/')).body);
}

function readExecutions(given: Partial<ExecutionsOfServer>): Promise<string> {
  return read({ executions: executions(given), missingPolicy: 'for: {}\n' });
}

describe('http/unreadable', () => {
  it('lists by project the executions that are not shown', async () => {
    const text = await readExecutions({
      runningDenied: ['warehouse', 'fresh'],
      hidden: [
        { project: 'warehouse', counted: 100, readable: 0 },
        { project: 'billing', counted: 20, readable: 12 },
        { project: 'hr', counted: undefined, readable: 0 },
      ],
    });

    expect(text).toMatch(
      /^✗"prod" does not show all executions\nHistory of warehouse: 100 counted, 0 readable; history of billing: 20 counted, 12 readable; .* Show missing permissions Runbook\nAs of /,
    );
    expect(text).toContain('\nRuns now: nothing, not readable in 2 projects\n');
    expect(text.slice(text.indexOf('\nMissing permissions') + 1, text.indexOf('Runs now'))).toBe(`Missing permissions
Project | Ended lately | Readable | Running
warehouse | 100 | 0 | ✗ not readable
billing | 20 | 12 | readable
hr |  | ✗ not readable | readable
fresh |  |  | ✗ not readable
To exclude a project on purpose, list it under servers[].projects.exclude.
Give this access policy to an administrator of the server. Replace automation-exporter with a role of the credentials.
`);
  });

  it.each([
    ['known', 'nothing'],
    ['unknown', 'not known yet'],
    ['denied', 'not readable'],
  ] as const)('reports running executions that are %s: %s', async (runningSight, words) => {
    const text = await readExecutions({ runningSight });
    expect(text).toContain(`\nRuns now: ${words}\n`);
  });

  it('shows missing and unnecessary rights', async () => {
    const rights = [
      { collector: 'nodes', may: false, missing: ['node read in pay'] },
      { collector: 'tokens', may: false, missing: ['apitoken read'] },
      { collector: 'executions', may: true, missing: [] },
    ];
    const denied = [collector('tokens', { result: 'off', reason: 'forbidden' })];
    const text = await read({
      collectors: denied,
      rights: { rights, excess: ['job run', 'job delete'], leastPolicy: 'for: {}', atMs: Date.UTC(2026, 0, 2, 3) },
    });
    expect(text).toContain(
      'Permissions at 2026-01-02 03:00 UTC\nnodes lacks node read in pay\nThe credentials have more rights than the exporter needs: job run, job delete. This policy is enough:',
    );
    expect(text).not.toContain('apitoken');
    const fine = { rights: rights.slice(2), excess: [], leastPolicy: undefined, atMs: 0 };
    expect(await read({ rights: fine })).not.toContain('Permissions');
  });

  it('reports that no project can be read', async () => {
    const denied = executions({ runningSight: 'denied' });
    const text = await read({ visibleProjects: 0, executions: denied, missingPolicy: 'for: {}\n' });
    expect(text).toMatch(
      /^✗"prod" shows no project\nIt has none, or the credentials cannot read any\. Show missing permissions Runbook\n/,
    );
    expect(text).toContain('\nRuns now: unknown\n');
    expect(text).toContain(
      'either the server has no projects, or the credentials cannot read any.\nGive this access policy',
    );
  });

  it('reports no success if executions are hidden', async () => {
    const shown = executions({ hidden: [{ project: 'pay', counted: 9, readable: 4 }] });
    const text = await read({ executions: shown, collectors: [collector('executions')] });
    expect(text).toContain(
      '\nexecutions | ! partial | 12 s ago | in 3 s | 23 ms | 14\nhistory of pay: 9 counted, 4 readable\n',
    );
  });

  it('shows twenty of many projects', async () => {
    const hidden = Array.from({ length: 33 }, (_, index) => ({ project: `p${index}`, counted: 2, readable: 0 }));
    const text = await readExecutions({ hidden });
    expect(text.match(/^p\d+ \| 2 \| 0/gm)).toHaveLength(20);
    expect(text).toContain('\nand 13 more projects\n');
  });
});
