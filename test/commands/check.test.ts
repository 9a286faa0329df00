import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { readerPolicy, strangerPolicy } from '../../simulator/world/access.ts';
import { toAccessPolicy } from '../../src/api/access-policy.ts';
import { executionsCollector } from '../../src/daemon/catalogue/collectors.ts';
import { makeFolder } from '../support/folder.ts';
import { listen } from '../support/listen.ts';
import { type CliRun, runCli, runHere, toEnvironment } from './run-cli.ts';

type Start = SimulatorOptions & { readonly projects?: readonly string[] };

/** Starts a service with one project by default. */
async function start({ projects = ['pay'], ...options }: Start = {}): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty', ...options });
  onTestFinished(() => simulator.stop());
  for (const project of projects) simulator.control.createProject(project);
  return simulator;
}

type Service = { readonly url: string; readonly token: string };

function check(service: Service, ...flags: string[]): Promise<CliRun> {
  return runHere(['check', ...flags], { env: toVariables(service) });
}

/** The settings of `toEnvironment` as a configuration file. */
const budget = 'budget: { requests_per_second: 1000 }';

function toVariables(service: Service): Readonly<Record<string, string>> {
  return { AUTOMATION_EXPORTER_NAME: 'prod', ...toEnvironment(service) };
}

/** The name and value of each line, without the details in brackets. */
function toRows(stdout: string): string[] {
  return stdout.split('\n').map((line) =>
    line
      .trim()
      .replace(/ {2,}\(.*\)$/, '')
      .replace(/ {2,}/g, ': '),
  );
}

describe('commands/check', () => {
  it('finds no problem', async () => {
    const simulator = await start();
    const { stdout, ...ended } = await runCli(['check'], { env: toVariables(simulator) });
    const [server, ...facts] = toRows(stdout).filter((row) => row !== '');

    expect(ended).toEqual({ code: 0, stderr: '', left: [] });
    expect([server, ...facts.slice(0, 5)]).toEqual([
      `prod: ${simulator.url}`,
      'reachable: yes',
      'credentials: accepted',
      'dialect: rundeck',
      'API version: 47',
      'release: 5.3.0-20260105',
    ]);
    expect(facts.slice(5, 10)).toEqual([
      'system-info: ok',
      'execution-mode: ok',
      'healthcheck: ok',
      'ping: ok',
      'log-storage: ok',
    ]);
    expect(facts.slice(5).filter((row) => !row.endsWith(': ok'))).toEqual([
      'execution-metrics: not asked',
      'prod: every enabled endpoint is readable, or disabled on the server',
    ]);
  });

  it('prints the warnings of the daemon about files and traffic', async () => {
    const simulator = await start();
    const directory = makeFolder();
    const [token, state] = [join(directory, 'token'), join(directory, 'state')];
    writeFileSync(token, `${simulator.token}\n`);
    chmodSync(token, 0o644);
    mkdirSync(state);
    chmodSync(state, 0o777);
    const env = {
      AUTOMATION_EXPORTER_NAME: 'prod',
      AUTOMATION_EXPORTER_URL: simulator.url,
      AUTOMATION_EXPORTER_TOKEN_FILE: token,
      AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: '1000',
    };
    const { code, stderr } = await runHere(['check', `--state.dir=${state}`], { env });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        `warning: every user of this machine can replace the state in ${state}: set its mode to 0700\n` +
        `warning: prod: every user of this machine can read ${token}: set its mode to 0600\n`,
    });
  });

  it('names projects with errors', async () => {
    const simulator = await start({ projects: ['a', 'b', 'c', 'd', 'e', 'f'] });
    simulator.control.changeProject('b', { disabled: true });
    simulator.control.addFault({ kind: 'status', status: 500, path: 'project/c/executions$' });
    const { stdout, ...ended } = await check(simulator);

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    const lines = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
    expect(lines).toContain('running-executions ok (6 projects tried; switched off: b)');
    expect(lines).toContain('project-jobs ok (5 of 6 projects tried; switched off: b)');
    expect(lines.find((line) => line.startsWith('project-executions'))).toMatch(
      /^project-executions broken \(6 projects tried; switched off: b; problems with c; GET project-executions: HTTP 500/,
    );
    expect(lines.filter((line) => line.startsWith('projects '))).toHaveLength(1);
  });

  it('reads running executions project by project if the release treats `*` as a project name', async () => {
    const simulator = await start();
    const body =
      '{"error":true,"apiversion":41,"errorCode":"api.error.project.missing","message":"Project does not exist: *"}';
    simulator.control.addFault({ kind: 'status', status: 404, path: 'project/(\\*|%2A)/executions/running', body });
    const { stdout, ...ended } = await check(simulator);

    expect(ended).toEqual({ code: 0, stderr: '', left: [] });
    expect(stdout).toMatch(/running-executions +ok +\(1 project tried\)/);
  });

  it('reads running executions project by project if the release returns an error for `*`', async () => {
    const { stdout, ...ended } = await check(await start({ dialect: 'rundeck', apiVersion: 35 }));
    expect(ended).toMatchObject({ code: 0, left: [] });
    expect(stdout).toMatch(/running-executions +ok +\(1 project tried\)/);
  });

  it('reports that no project is visible, and prints the policy for everything', async () => {
    const { stdout, ...ended } = await check(await start({ projects: [] }));
    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    expect(stdout).toMatch(
      /^ {2}projects +nothing visible {2}\(nothing is visible to these credentials: the server has no project, or they cannot read any\)$/m,
    );
    const untried = /(\S+) +not asked +\(no project is visible to these credentials\)/g;
    const names = [...stdout.matchAll(untried)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['running-executions', 'project-executions', 'project-jobs']));
    expect(stdout).toContain('    - { equals: { kind: event }, allow: [read] }\n');
    expect(stdout).toMatch(/\nprod: problems with projects\n$/);
  });

  it('reports that the configuration excludes all projects', async () => {
    const { url, token } = await start();
    const config = `servers: [{ name: prod, url: '${url}', token_file: ./token, projects: { exclude: [pay] }, ${budget} }]\n`;
    const files = { 'config.yaml': config, token: `${token}\n` };
    const { code, stdout } = await runHere(['check', '--config.file=config.yaml'], { files });
    expect(code).toBe(0);
    expect(stdout).toMatch(/project-jobs +not asked {2}\(`servers\[\]\.projects` leaves out all 1 projects\)/);
  });

  it('reports executions that cannot be read', async () => {
    const simulator = await start({ projects: ['billing', 'pay', 'warehouse', 'web-shop'] });
    const { control, url } = simulator;
    const startedAtMs = Date.now() - 60_000;
    for (const project of ['warehouse', 'web-shop', 'web-shop', 'pay']) {
      control.addFinished(project, { startedAtMs, endedAtMs: startedAtMs + 1000 });
    }
    const secret = control.createJob('billing', { name: 'secret' });
    control.addFinished('billing', { jobId: secret, startedAtMs, endedAtMs: startedAtMs + 1000 });
    control.addFinished('billing', { startedAtMs, endedAtMs: startedAtMs + 1000 });
    control.addToken({ token: 'half-blind', policy: { events: ['pay', 'billing'], hiddenJobs: [secret] } });
    const { stdout, ...ended } = await check({ url, token: 'half-blind' });

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    const lines = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
    expect(lines).toContain(
      'project-executions hidden (history of warehouse, web-shop: 3 counted, 0 readable; history of billing: 2 counted, 1 readable; 4 projects tried)',
    );
    expect(lines.find((line) => line.startsWith('running-executions'))).toMatch(
      /^running-executions denied \(4 projects tried; denied: warehouse, web-shop; GET running-executions: HTTP 403/,
    );
    const policy = toAccessPolicy(executionsCollector.reads).replaceAll(/^(?=.)/gm, '    ');
    expect(stdout.slice(stdout.indexOf('  This access policy'))).toBe(
      `  This access policy allows what is denied or hidden:\n\n${policy}\nprod: problems with running-executions, project-executions\n`,
    );
  });

  it.each([
    ['5.20.0', '`read`', 'hidden'],
    ['6.1.0', '`read` or `view_history`', 'hidden'],
    ['6.2.0', undefined, 'ok'],
  ])('names a job that the token can only view, in release %s', async (release, rights, verdict) => {
    const simulator = await start({ release });
    const { control, url } = simulator;
    const startedAtMs = Date.now() - 60_000;
    const jobId = control.createJob('pay', { name: 'settle' });
    control.addFinished('pay', { jobId, startedAtMs, endedAtMs: startedAtMs + 1000 });
    control.addToken({ token: 'viewer', policy: { viewedJobs: [jobId] } });
    const { stdout } = await check({ url, token: 'viewer' });

    const line = stdout.split('\n').find((each) => each.trim().startsWith('project-executions')) ?? '';
    const said =
      / the credentials can view settle, but not read it: release ([\d.]+) hides its executions without (.*), while jobs\/export shows its whole definition;/;
    expect([/^ +project-executions +(\w+)/.exec(line)?.[1], said.exec(line)?.[2]]).toEqual([verdict, rights]);
  });

  it('warns about a server whose monitoring page is open without credentials', async () => {
    const simulator = await start({ release: '6.1.0' });
    const open = await check(simulator);
    simulator.control.configure({ monitoring: false });
    const closed = await check(simulator);

    expect({ ...open, stdout: '' }).toEqual({
      code: 0,
      stdout: '',
      stderr: `warning: prod: ${simulator.url}/monitoring/ is open to everyone without credentials: close it at the proxy, or set rundeck.metrics.monitoring.enabled=false\n`,
      left: [],
    });
    expect([closed.code, closed.stderr]).toEqual([0, '']);
    expect(
      simulator
        .requests()
        .filter(({ path }) => path.startsWith('/monitoring/'))
        .map(({ auth }) => auth),
    ).toEqual(['none', 'none']);
  });

  it('reports how many jobs have no series of their own', async () => {
    const { control, url, token } = await start();
    for (const name of ['a', 'b', 'c']) control.createJob('pay', { name });
    const roomy = await check({ url, token });
    const tight = await check({ url, token }, '--jobs.cap=2');
    const tiny = await check({ url, token }, '--collector.executions.max-series=150');

    expect([roomy.code, tight.code]).toEqual([0, 0]);
    expect(roomy.stdout).toMatch(
      /^ {2}job-series +ok {2}\(3 jobs; 5,000 jobs can have their own series; 1 project tried\)$/m,
    );
    expect(tight.stdout).toMatch(
      /^ {2}job-series +left out {2}\(3 jobs; 2 jobs .*: 1 job may be counted only in __other__; raise jobs\.cap; 1 project tried\)$/m,
    );
    expect(tiny.stdout).toMatch(/^ {2}job-series +left out .* raise collectors\.executions\.max_series; /m);
  });

  it('finds no problem with the printed policy', async () => {
    const { control, url } = await start();
    const startedAtMs = Date.now() - 60_000;
    control.addFinished('pay', { startedAtMs, endedAtMs: startedAtMs + 1000 });
    control.addToken({ token: 'blind', policy: { events: [], jobs: [], adhoc: [] } });
    const before = await check({ url, token: 'blind' }, '--json');
    // This cast is safe: the tests use only fields that the report has.
    const [report] = JSON.parse(before.stdout) as [{ readonly missingPolicy: string }];
    control.addAccessRules('blind', report.missingPolicy);
    const after = await check({ url, token: 'blind' });

    expect([before.code, after.code]).toEqual([1, 0]);
    expect(after.stdout).toMatch(/\nprod: every enabled endpoint is readable, or disabled on the server\n$/);
  });

  it('reports endpoints that were not requested', async () => {
    const { stdout } = await check(await start({ apiVersion: 14 }));
    expect(stdout).toMatch(/: every enabled endpoint is readable, or disabled on the server, or too new for it\n$/);
    const old = toRows(stdout);
    expect(old).toContain('execution-metrics: too old');
    const recent = (await check(await start())).stdout;
    expect(recent).toMatch(/^ {2}execution-metrics +not asked {2}\(configuration selects no project for it\)$/m);
    expect(recent).toMatch(/^ {2}job-info +ok {2}\(1 project tried\)$/m);
  });

  it('prints the line of the access policy that fixes a denial', async () => {
    const simulator = await start({ dialect: 'service' });
    simulator.control.addToken({ token: 'stranger-token', policy: strangerPolicy });
    const asked = { url: simulator.url, token: 'stranger-token' };
    const { stdout, ...ended } = await check(asked, '--collector.users');

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    const rows = toRows(stdout);
    expect(rows.slice(0, 10)).toEqual([
      `prod: ${simulator.url}`,
      'reachable: yes',
      'credentials: accepted',
      'dialect: service',
      'API version: 47',
      'release: unknown',
      'system-info: denied',
      'allow it in an access policy: resource: [{ equals: { kind: system }, allow: [read] }]',
      'execution-mode: denied',
      'healthcheck: denied',
    ]);
    expect(rows[rows.indexOf('users: denied') + 1]).toBe(
      'needs system admin, or switch the collector off: collectors.users.enabled: false',
    );
  });

  it.each([
    ['neither policies of the system nor of projects', { systemRead: false }],
    ['no policies of projects', {}],
  ])('prints the whole policy for a token that can read %s', async (_what, less) => {
    const { control, url } = await start();
    control.addToken({
      token: 'less',
      policy: { configure: false, systemAdmin: false, admin: false, run: false, ...less },
    });
    const { code, stdout } = await check({ url, token: 'less' }, '--collector.acl-policies');
    expect(code).toBe(1);
    expect(toRows(stdout)).toContain('project-acl-policies: denied');
    expect(stdout).toContain('  project_acl:\n        - { allow: [read] }\n');
    expect(stdout.includes('kind: system_acl')).toBe('systemRead' in less);
  });

  it('accepts the minimal rights of the documentation', async () => {
    const { control, url } = await start();
    const nothingMore = { configure: false, run: false, admin: false, systemAdmin: false };
    control.addToken({ token: 'least', policy: nothingMore });
    expect(await check({ url, token: 'least' })).toMatchObject({ code: 0, stderr: '' });
    // Denied endpoints for administrators cause no failure.
    const { stdout, ...ended } = await check({ url, token: 'least' }, '--collector.users');
    expect(ended).toEqual({ code: 0, stderr: '', left: [] });
    expect(toRows(stdout)).toContain('users: denied');
    expect(toRows(stdout)).toContain(
      'needs system admin, or switch the collector off: collectors.users.enabled: false',
    );
  });

  it.each<[string, number, readonly string[], () => Promise<Simulator>]>([
    [
      'also notices a denial if the server answers system info to anybody',
      1,
      ['system-info: ok', 'execution-mode: denied', 'healthcheck: denied', 'log-storage: denied'],
      async () => {
        const simulator = await start({ dialect: 'rundeck' });
        simulator.control.addToken({ token: simulator.token, policy: strangerPolicy });
        return simulator;
      },
    ],
    [
      'accepts that an old server lacks endpoints',
      0,
      ['API version: 24', 'system-info: ok', 'execution-mode: too old', 'healthcheck: too old', 'log-storage: ok'],
      () => start({ apiVersion: 24 }),
    ],
    [
      'reports the missing mode endpoint of API version 30',
      0,
      ['API version: 30', 'execution-mode: too old', 'healthcheck: ok'],
      () => start({ apiVersion: 30 }),
    ],
    [
      'accepts that a server has its metrics disabled',
      0,
      ['execution-mode: ok', 'healthcheck: disabled', 'log-storage: ok'],
      async () => {
        const simulator = await start();
        simulator.control.switchMetrics(false);
        return simulator;
      },
    ],
  ])('%s', async (_title, code, rows, startLacking) => {
    const { stdout, ...ended } = await check(await startLacking());
    expect(ended).toEqual({ code, stderr: '', left: [] });
    expect(toRows(stdout)).toEqual(expect.arrayContaining([...rows]));
  });

  it('sends one request if the credentials are refused', async () => {
    const simulator = await start();
    const { stdout, ...ended } = await check({ url: simulator.url, token: 'wrong-token' });

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    expect(toRows(stdout)).toEqual(
      expect.arrayContaining([
        'reachable: yes',
        'credentials: refused: missing, wrong or expired; the server does not report which',
      ]),
    );
    expect(stdout).not.toContain('wrong-token'.slice(0, 6));
    expect(simulator.requests()).toHaveLength(1);
  });

  it('reports once that the address belongs to another service', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end('<html>Not here</html>'));
    const port = await listen(server);
    const { stdout, ...ended } = await check({ url: `http://127.0.0.1:${port}`, token: 'a-token' });
    server.close();

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    expect(stdout.match(/ broken /g)).toHaveLength(1);
    expect(toRows(stdout)).toEqual(
      expect.arrayContaining(['reachable: yes', 'credentials: unknown', 'API version: unknown', 'system-info: broken']),
    );
    expect(stdout).toMatch(/\nprod: the address responds, but not with this API: .* the API is not there; .*\n$/);
  });

  it.each([
    ['5s', 502, 'not with this API: GET system-info: HTTP 502, the server failed', 3],
    ['200ms', 0, '(GET system-info: no complete answer within 0.2 s)', 1],
  ])('gives the reason once if no response is useful: %s', async (timeout, status, reason, lines) => {
    const server = createServer((_request, response) => status > 0 && response.writeHead(status).end('<html></html>'));
    onTestFinished(() => server.close().closeAllConnections());
    const port = await listen(server);
    const service = { url: `http://127.0.0.1:${port}`, token: 'a-token' };
    const { stdout } = await runHere(['check'], {
      env: { ...toVariables(service), AUTOMATION_EXPORTER_TIMEOUT: timeout },
    });

    expect(stdout.match(/ broken /g)).toHaveLength(lines);
    expect(stdout).toContain(reason);
  });

  it.each([
    [
      'DIALECT',
      'service',
      'the credentials are refused; set `dialect: rundeck`: the server then accepts the credentials',
      3,
    ],
    ['API_VERSION', '99', 'the server refuses the API version; its newest is 47: set `api_version: auto`', 2],
  ])('says what to correct if %s is wrong', async (name, value, says, asked) => {
    const simulator = await start();
    const { url, token } = simulator;
    const env = { AUTOMATION_EXPORTER_NAME: 'prod', AUTOMATION_EXPORTER_URL: url, AUTOMATION_EXPORTER_TOKEN: token };
    const { stdout, code } = await runHere(['check'], { env: { ...env, [`AUTOMATION_EXPORTER_${name}`]: value } });
    expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({ code: 1, last: `prod: ${says}` });
    expect(simulator.requests().length).toBeLessThanOrEqual(asked);
  });

  it.each([
    [
      'AUTOMATION_EXPORTER_TOKEN',
      'a-token',
      'the credentials are refused; a login page instead of the API: correct the path of the URL, or check whether a proxy removes the token',
    ],
    ['AUTOMATION_EXPORTER_PASSWORD', 'wrong', 'the credentials are refused'],
  ])('reports a server that redirects to its login page as reachable (%s)', async (name, value, says) => {
    const server = createServer((request, response) => {
      const location = request.method === 'POST' ? '/user/error' : '/user/login';
      response.writeHead(302, { location, 'set-cookie': 'JSESSIONID=one' }).end();
    });
    const port = await listen(server);
    const user = name.endsWith('PASSWORD') ? { AUTOMATION_EXPORTER_USERNAME: 'reader' } : {};
    const env = {
      ...user,
      AUTOMATION_EXPORTER_NAME: 'prod',
      AUTOMATION_EXPORTER_URL: `http://127.0.0.1:${port}`,
      [name]: value,
    };
    const { stdout } = await runHere(['check'], { env });
    server.close();
    expect(toRows(stdout)).toContain('reachable: yes');
    expect(stdout).toMatch(new RegExp(`\nprod: ${says}\n$`));
  });

  it('reports that no program listens at the address', async () => {
    const simulator = await start();
    await simulator.stop();
    const { stdout, ...ended } = await check(simulator);

    expect(ended).toEqual({ code: 1, stderr: '', left: [] });
    expect(toRows(stdout)).toEqual(
      expect.arrayContaining(['reachable: no', 'credentials: unknown', 'system-info: broken']),
    );
    expect(stdout).toContain('the connection was refused');
  });

  it('skips disabled collectors', async () => {
    const simulator = await start();
    simulator.control.addFault({ kind: 'status', status: 500, path: 'logstorage$' });
    const all = await check(simulator);
    const without = await check(simulator, '--no-collector.log-storage');

    expect(all.code).toBe(1);
    expect(toRows(all.stdout)).toContain('log-storage: broken');
    expect(without.code).toBe(0);
    expect(toRows(without.stdout).filter((row) => row.startsWith('log-storage:'))).toEqual([]);
  });

  it('prints its report as JSON', async () => {
    const simulator = await start({ dialect: 'service' });
    simulator.control.switchMetrics(false);
    const { stdout, ...ended } = await check(simulator, '--json');

    expect(ended).toEqual({ code: 0, stderr: '', left: [] });
    expect(JSON.parse(stdout)).toEqual([
      {
        server: 'prod',
        url: simulator.url,
        reachable: true,
        credentials: 'accepted',
        dialect: 'service',
        apiVersion: 47,
        release: expect.any(String) as string,
        startedAtMs: expect.any(Number) as number,
        hidesMembers: false,
        sizes: { projects: 1, readProjects: 1, jobs: 0 },
        endpoints: expect.arrayContaining([
          { endpoint: 'system-info', verdict: 'ok' },
          { endpoint: 'execution-mode', verdict: 'ok' },
          { endpoint: 'healthcheck', verdict: 'disabled', message: expect.any(String) as string },
          { endpoint: 'log-storage', verdict: 'ok' },
        ]) as object[],
      },
    ]);
  });

  it('fails if one of two servers has problems', async () => {
    const simulator = await start();
    const config = `servers:
  - { name: one, url: '${simulator.url}', token_file: ./token, ${budget} }
  - { name: two, url: '${simulator.url.replace('127.0.0.1', 'localhost')}', token_file: ./wrong, ${budget} }
`;
    const files = { 'config.yaml': config, token: `${simulator.token}\n`, wrong: 'wrong-token\n' };
    const { code, stdout, stderr } = await runHere(['check', '--config.file=config.yaml'], { files });

    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^one {2}http:.*\n {2}reachable .*\n {2}credentials +accepted\n/);
    expect(stdout).toMatch(/\n\ntwo {2}http:.*\n {2}reachable .*\n {2}credentials +refused/);
    expect(stdout).toMatch(/\n\n2 servers and members checked: 1 ok, 1 with problems: two\n$/);
  });

  it('has a verdict for each member of a cluster', async () => {
    const simulator = await start({ members: 2, memberAddresses: true });
    const [first = '', second = ''] = simulator.memberUrls;
    const toConfig = (b: string) => `servers:
  - name: prod
    url: '${simulator.url}'
    token_file: ./token
    members: [{ name: a, url: '${first}' }, { name: b, url: '${b}' }]
    ${budget}
`;
    const run = (b: string, ...flags: string[]) => {
      const files = { 'config.yaml': toConfig(b), token: `${simulator.token}\n` };
      return runHere(['check', '--config.file=config.yaml', ...flags], { files });
    };
    const well = await run(second);
    expect({ code: well.code, stderr: well.stderr }).toEqual({ code: 0, stderr: '' });
    expect(well.stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      `prod  ${simulator.url}`,
      'prod: every enabled endpoint is readable, or disabled on the server',
      `prod, member a  ${first}`,
      'prod, member a: every enabled endpoint is readable, or disabled on the server',
      `prod, member b  ${second}`,
      'prod, member b: every enabled endpoint is readable, or disabled on the server',
      '3 servers and members checked: 3 ok, 0 with problems',
    ]);
    const [common = '', ofMember = ''] = well.stdout.split('\nprod, member ');
    expect([common, ofMember].map((text) => /^ {2}(healthcheck|threads|ping) /m.test(text))).toEqual([false, true]);
    expect([common, ofMember].map((text) => /^ {2}project-executions /m.test(text))).toEqual([true, false]);

    const down = await run('http://127.0.0.1:9');
    expect(down.code).toBe(1);
    expect(down.stdout.split('\n').filter((line) => /^prod.*: /.test(line) && !line.includes('http'))).toEqual([
      'prod: every enabled endpoint is readable, or disabled on the server',
      'prod, member a: every enabled endpoint is readable, or disabled on the server',
      'prod, member b: not reachable',
    ]);
    // This cast is safe: the tests use only fields that the reports have.
    const reports = JSON.parse((await run(second, '--json')).stdout) as { server: string; member?: string }[];
    expect(reports.map(({ server, member }) => [server, member])).toEqual([
      ['prod', undefined],
      ['prod', 'a'],
      ['prod', 'b'],
    ]);
  }, 40_000);

  it('checks the rights of the token if the server reports them', async () => {
    const simulator = await start({ apiVersion: 58 });
    const { control, url } = simulator;
    const jobId = control.createJob('pay', { name: 'settle' });
    control.addToken({ token: 'reader', policy: readerPolicy });
    control.addToken({ token: 'viewer', policy: { ...readerPolicy, viewedJobs: [jobId] } });
    control.addToken({ token: 'half', policy: { ...readerPolicy, systemRead: false, events: [] } });
    control.addToken({
      token: 'ruler',
      policy: { ...readerPolicy, systemRead: false, systemAdmin: true, events: [], nodes: [] },
    });
    control.addToken({ token: 'runner', policy: { ...readerPolicy, run: true } });

    const reader = await check({ url, token: 'reader' });
    expect(toRows(reader.stdout)).toContain('rights: sufficient for every enabled collector');
    expect(reader.stdout).not.toContain('warning');

    // With `view` on a job, everything except its definition is readable.
    const viewer = toRows((await check({ url, token: 'viewer' })).stdout).filter((row) => row.startsWith('rights'));
    expect(viewer).toEqual(['rights: schedule lacks: job read in pay', 'rights: changes lacks: job read in pay']);

    const half = await check({ url, token: 'half' });
    expect(toRows(half.stdout)).toContain('rights: executions lacks: event read in pay');
    expect(toRows(half.stdout)).toContain('rights: system-info lacks: system read');

    // Admin rights on the system do not cover lists by project.
    const ruler = toRows((await check({ url, token: 'ruler' })).stdout).filter((row) => row.startsWith('rights'));
    expect(ruler).toEqual([
      'rights: project-nodes lacks: node read in pay',
      'rights: execution-metrics lacks: event read in pay',
      'rights: executions lacks: event read in pay',
      'rights: changes lacks: node read in pay',
    ]);

    const runner = await check({ url, token: 'runner' });
    expect(runner.code).toBe(0);
    expect(runner.stdout).toContain(
      '  warning: the token has more rights than an exporter needs: job run, job kill. Use this policy instead:\n\n    description: ',
    );
    const { code, stdout } = await check({ url, token: simulator.token }, '--json');
    // This cast is safe: the tests use only fields that the report has.
    const [report] = JSON.parse(stdout) as {
      rights: { collector: string; may: boolean; missing: string[] }[];
      excess: string[];
    }[];
    expect(code).toBe(0);
    expect(report?.rights).toContainEqual({ collector: 'executions', may: true, missing: [] });
    expect(report?.excess).toEqual(expect.arrayContaining(['job delete', 'system admin', 'project configure']));
  });

  it('reports nothing about rights of the token before release 5.9', async () => {
    const { stdout } = await check(await start(), '--json');
    expect(JSON.parse(stdout)).toEqual([expect.not.objectContaining({ rights: expect.anything() as unknown })]);
  });

  it('prints a policy only once if all members lack its rights', async () => {
    const simulator = await start({ members: 2, memberAddresses: true });
    simulator.control.addToken({ token: 'stranger-token', policy: strangerPolicy });
    const members = simulator.memberUrls.map((url, index) => `{ name: m${index}, url: '${url}' }`).join(', ');
    const config = `servers: [{ name: prod, url: '${simulator.url}', token_file: ./token, members: [${members}], ${budget} }]\n`;
    const files = { 'config.yaml': config, token: 'stranger-token\n' };
    const { code, stdout } = await runHere(['check', '--config.file=config.yaml'], { files });
    expect(code).toBe(1);
    expect(stdout.match(/This access policy/g)?.length).toBeLessThanOrEqual(2);
    expect(stdout).toMatch(/\nprod, member m1: problems with .*execution-mode/);
  });

  it('reports that no server is configured', async () => {
    expect(await runHere(['check'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file\n',
      left: [],
    });
  });
});
