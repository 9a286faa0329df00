import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { strangerPolicy } from '../../simulator/world/access.ts';
import { acl } from '../../src/commands/acl.ts';
import { check } from '../../src/commands/check.ts';
import { commandWords } from '../../src/commands/command-table.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { runHere, toEnvironment } from './run-cli.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: 'empty' });
  simulator.control.createProject('pay', ['web01']);
  simulator.control.createJob('pay', { name: 'settle', group: 'nightly' }, 'settle');
  const endedAtMs = Date.now() - 60_000;
  for (const jobId of ['settle', undefined])
    simulator.control.addFinished('pay', { startedAtMs: endedAtMs - 1000, endedAtMs, ...(jobId && { jobId }) });
});
afterAll(() => simulator.stop());

/** The whole policy that `acl` prints without a configuration. */
const everything = `# The minimal rights of automation-exporter on the server default,
# with what is enabled in this configuration. It only allows reading: no change, run or deletion.
# Give the user of the token, or the token itself, the role automation-exporter.
# Tokens of Rundeck 2.7 and older have the role api_token_group instead.
# Left out, because it would also allow changes: project configure; project-modes uses it on old releases.
description: what automation-exporter reads
context:
  application: rundeck
for:
  resource:
    # System information: version, mode, memory, scheduler, metrics, log storage, tokens.
    # Used by: start, system-info, execution-mode, healthcheck, ping, log-storage, log-storage-incomplete, app-metrics, tokens.
    - { equals: { kind: system }, allow: [read] }
  project:
    # The projects themselves: without this right, projects are invisible.
    # Used by: projects, project-modes, executions.
    - { allow: [read] }
  storage:
    # The names of stored keys, when they were changed and by whom; no secrets.
    # Used by: changes.
    - { match: { path: "keys(/.*)?" }, allow: [read] }
by:
  group: automation-exporter
---
description: what automation-exporter reads
context:
  project: '.*'
for:
  job:
    # Jobs and their executions: without this right, every list omits them.
    # Used by: project-jobs, job-info, executions, schedule, changes, traces.
    - { allow: [read] }
  resource:
    # The list of nodes of a project.
    # Used by: project-nodes, changes.
    - { equals: { kind: node }, allow: [read] }
    # Finished and running executions.
    # Used by: execution-metrics, executions.
    - { equals: { kind: event }, allow: [read] }
  node:
    # The nodes in the list of nodes: without this right, the list is empty.
    # Used by: project-nodes, changes.
    - { allow: [read] }
  adhoc:
    # The executions of commands that ran without a job.
    # Used by: executions, traces.
    - { allow: [read] }
by:
  group: automation-exporter
`;

/** Runs a command in this process, with these flags and variables. */
async function run(command: typeof acl, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let stdout = '';
  let stderr = '';
  const context = {
    arguments: parseArguments(argv, {
      collectors,
      commandLine: { commands: commandWords, flags: [{ name: 'json', help: '' }] },
    }),
    env,
    version: 'test',
    write: (text: string) => {
      stdout += text;
    },
    complain: (text: string) => {
      stderr += text;
    },
  };
  return { code: await command(context), stdout, stderr };
}

/** Returns the endpoints that a token with this policy cannot read. */
async function findDenied(token: string, policy: string): Promise<readonly string[]> {
  simulator.control.addToken({ token, policy: strangerPolicy });
  simulator.control.addAccessRules(token, policy);
  const env = toEnvironment({ url: simulator.url, token });
  const { stdout } = await run(check, ['check', '--json', '--state.memory'], env);
  const [report] = JSON.parse(stdout) as {
    readonly endpoints: readonly { readonly endpoint: string; readonly verdict: string }[];
  }[];
  const wrong = (report?.endpoints ?? []).filter(({ verdict }) => !['ok', 'not asked'].includes(verdict));
  const headers = { 'X-Rundeck-Auth-Token': token, accept: 'application/json' };
  const nodes = (await (await fetch(`${simulator.url}/api/47/project/pay/resources`, { headers })).json()) as object;
  return [
    ...wrong.map(({ endpoint, verdict }) => `${endpoint}: ${verdict}`),
    ...(Object.keys(nodes).includes('web01') ? [] : ['the nodes of pay']),
  ];
}

type Rules = Record<string, unknown[]>;
type Document = { readonly for: Rules };

/** Returns the policy once without each of its rules. */
function leaveOutEach(policy: string): readonly { readonly without: string; readonly policy: string }[] {
  const documents = (): Document[] => parseAllDocuments(policy).map((document) => document.toJS() as Document);
  return documents().flatMap((document, index) =>
    Object.entries(document.for).flatMap(([type, rules]) =>
      rules.map((rule, place) => {
        const all = documents();
        all[index]?.for[type]?.splice(place, 1);
        return { without: `${type} ${JSON.stringify(rule)}`, policy: all.map((one) => stringify(one)).join('---\n') };
      }),
    ),
  );
}

describe('commands/acl', () => {
  it('prints a policy that allows exactly the needed requests', async () => {
    const { code, stdout } = await run(acl, ['acl']);
    expect(code).toBe(0);
    expect(await findDenied('all', stdout)).toEqual([]);

    const denied: Record<string, readonly string[]> = {};
    for (const { without, policy } of leaveOutEach(stdout)) denied[without] = await findDenied(without, policy);
    expect(denied).toEqual({
      'resource {"equals":{"kind":"system"},"allow":["read"]}': [
        'execution-mode: denied',
        'healthcheck: denied',
        'ping: denied',
        'log-storage: denied',
        'log-storage-incomplete: denied',
        'app-metrics: denied',
      ],
      'project {"allow":["read"]}': ['projects: nothing visible', 'the nodes of pay'],
      'job {"allow":["read"]}': ['project-executions: hidden'],
      'resource {"equals":{"kind":"node"},"allow":["read"]}': ['project-nodes: denied', 'the nodes of pay'],
      'resource {"equals":{"kind":"event"},"allow":["read"]}': [
        'running-executions: denied',
        'project-executions: hidden',
      ],
      'node {"allow":["read"]}': ['the nodes of pay'],
      'adhoc {"allow":["read"]}': ['project-executions: hidden'],
      // The server responds as if there were no keys.
      'storage {"match":{"path":"keys(/.*)?"},"allow":["read"]}': [],
    });
  });

  it('explains each rule', async () => {
    const { stdout } = await run(acl, ['acl']);
    expect(stdout).toBe(everything);
    const page = readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8');
    expect(page).toContain(`\`\`\`yaml\n${everything}\`\`\``);
  });

  it('omits rules for disabled features, and needs no server', async () => {
    const flags = ['--collector.disable-defaults', '--collector.execution-mode', '--traces.enabled=off'];
    const { code, stdout, stderr, left } = await runHere(['acl', ...flags]);
    expect({ code, stderr, left }).toEqual({ code: 0, stderr: '', left: [] });
    expect(stdout.split('\n').filter((line) => /^ +- /.test(line))).toEqual([
      '    - { equals: { kind: system }, allow: [read] }',
    ]);
  });

  it('covers the watched projects of each server', async () => {
    const yaml = `
servers:
  - { name: eu, url: https://eu.example.org, token_file: t, projects: { include: [pay-.*, "hr's"], exclude: [pay-old] } }
  - { name: us, url: https://us.example.org, token_file: t, dialect: service }
`;
    const files = { 'config.yaml': yaml, t: 'a-token\n' };
    const { stdout } = await runHere(['acl', '--config.file=config.yaml'], { files });
    const lines = stdout
      .split('\n')
      .filter((line) => /^# .*(server|excluded)|application:|project: '|name:/.test(line));
    expect(lines).toEqual([
      '# The minimal rights of automation-exporter on the server eu (https://eu.example.org),',
      '# Projects excluded by configuration (pay-old) are allowed too.',
      '  application: rundeck',
      "    - { match: { name: '(pay-.*|hr''s)' }, allow: [read] }",
      "  project: '(pay-.*|hr''s)'",
      '# The minimal rights of automation-exporter on the server us (https://us.example.org),',
      '  application: service',
      "  project: '.*'",
    ]);

    const one = await runHere(['acl', 'us', '--config.file=config.yaml'], { files });
    expect(one.stdout).toContain('on the server us (https://us.example.org)');
    expect(one.stdout).not.toContain('the server eu');
    expect(await runHere(['acl', 'uk', '--config.file=config.yaml'], { files })).toMatchObject({
      code: 2,
      stderr: 'acl: "uk" is not a configured server (configured: eu, us)\n',
    });
  });

  it('grants no right that also permits changes', async () => {
    const { stdout } = await run(acl, ['acl', '--collector.users']);
    expect(stdout).toContain(
      '# Left out, because it would also allow changes: system admin; users does not work without it.\n',
    );
    expect(stdout).not.toContain('[admin]');
  });
});
