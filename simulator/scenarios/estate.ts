import type { World } from '../world/world.ts';
import { addHabit, addJob, addProject, command, every, reference, references, work } from './build.ts';

/** The alerts of this installation, one of whose jobs always fails. */
export const ofEstate: readonly string[] = ['AutomationJobFailingRepeatedly'];

/** Builds the installation of most scenarios: a few teams, with their jobs and habits. */
export function buildEstate(world: World): void {
  addPayments(world);
  addWarehouse(world);
  addWebShop(world);
  addOthers(world);
}

/** The key with which the jobs of payments log in. */
const login = { key: 'keys/team/payments/node.pem' };

function addPayments(world: World): void {
  const nodes = ['pay01', 'pay02', 'pay03', 'db01'];
  const project = addProject(world, 'payments', nodes);
  const backup = addJob(world, project, {
    name: 'backup',
    group: 'db',
    description: 'Dumps the ledger',
    work: work(['db01'], [command('pg_dump ledger', 18), command('verify-dump', 5, 0.01)]),
  });
  addJob(world, project, {
    name: 'settle',
    group: 'nightly',
    description: 'Settles the day, node by node',
    work: work(
      nodes.slice(0, 3),
      [
        command('stop-intake', 3),
        reference(backup),
        command('settle --all', 30, 0.02, { handler: command('settle --rollback', 6, 0.2) }),
        command('start-intake', 3),
      ],
      { references: references(backup) },
    ),
    schedule: every(15, 'settle'),
    options: { date: 'today', mode: 'full' },
  });
  addJob(world, project, {
    name: 'reconcile',
    group: 'nightly',
    description: 'Compares both ledgers, with two more attempts',
    work: work(
      ['pay01', 'pay02'],
      [command('fetch-statements', 12, 0.002, login), command('compare', 25, 0.12, login)],
    ),
    schedule: every(5, 'reconcile'),
    retry: { attempts: 2, delayMs: 20_000 },
  });
  addJob(world, project, {
    name: 'health probe',
    work: work(nodes, [command('curl -fsS localhost/health', 4, 0.001)], { keepGoing: true }),
    schedule: every(1, 'probe'),
  });
  addHabit(world, backup, every(40, 'backup by hand'), 'amira');
}

function addWarehouse(world: World): void {
  const nodes = Array.from({ length: 8 }, (_, index) => `wh${String(index + 1).padStart(2, '0')}`);
  const project = addProject(world, 'warehouse', nodes);
  addJob(world, project, {
    name: 'stock',
    group: 'sync',
    work: work(nodes.slice(0, 4), [command('pull-stock', 10), command('push-stock', 22, 0.004)]),
    schedule: every(2, 'stock'),
  });
  addJob(world, project, {
    name: 'prices',
    group: 'sync',
    work: work(nodes.slice(4), [command('pull-prices', 6), command('push-prices', 14, 0.004)]),
    schedule: every(3, 'prices'),
  });
  addJob(world, project, {
    name: 'rebuild index',
    description: 'Takes its time on every node',
    work: work(nodes, [command('rebuild-index', 200, 0.003)], { timeoutMs: 420_000, keepGoing: true }),
    schedule: every(10, 'index'),
  });
  const uptime = work(nodes.slice(0, 2), [command('uptime', 2)]);
  addHabit(world, { project, work: uptime }, every(4, 'uptime'), 'jonas');
}

function addWebShop(world: World): void {
  const nodes = ['web01', 'web02', 'web03'];
  const project = addProject(world, 'web-shop', nodes);
  const restart = addJob(world, project, {
    name: 'restart app',
    group: 'deploy/parts',
    work: work(nodes, [command('drain', 6), command('systemctl restart shop', 9, 0.01)]),
  });
  addJob(world, project, {
    name: 'canary',
    group: 'deploy',
    description: 'Restarts one node after the other',
    work: work(nodes, [command('fetch-release', 8), reference(restart, true), command('smoke', 5, 0.02)], {
      references: references(restart),
    }),
    schedule: every(20, 'canary'),
    options: { release: '2026.1' },
  });
  addJob(world, project, {
    name: 'smoke test',
    work: work(nodes, [{ ...command('smoke-suite', 12, 0.01), kind: 'script' }]),
    schedule: every(1.5, 'smoke'),
  });
  addHabit(world, restart, every(25, 'restart by hand'), 'lee');
}

function addOthers(world: World): void {
  const nodes = ['etl01', 'etl02'];
  const data = addProject(world, 'data.platform', nodes);
  addJob(world, data, {
    name: 'load',
    group: 'etl/daily',
    work: work(nodes, [command('extract', 30), command('transform', 55, 0.01), command('load', 40, 0.01)]),
    schedule: every(6, 'load daily'),
  });
  addJob(world, data, {
    name: 'load',
    group: 'etl/hourly',
    work: work(nodes.slice(0, 1), [command('extract', 5), command('load', 15, 0.01)]),
    schedule: every(7, 'load hourly'),
  });
  addJob(world, data, {
    name: 'quality check',
    description: 'Sometimes too slow for its timeout',
    work: work(nodes, [command('check-quality', 50)], { timeoutMs: 58_000 }),
    schedule: every(8, 'quality'),
  });
  const sandbox = addProject(world, 'sandbox', ['box01']);
  addJob(world, sandbox, {
    name: 'always broken',
    work: work(['box01'], [command('false', 2, 1)]),
    schedule: every(12, 'broken'),
  });
  addJob(world, sandbox, {
    name: 'say "hello", {friend}\\now',
    group: 'odd/names',
    work: work(['box01'], [command('echo hello', 1)]),
    schedule: every(9, 'hello'),
  });
  addJob(world, sandbox, {
    name: 'switched off',
    work: work(['box01'], [command('true', 1)]),
    schedule: every(1, 'off'),
    scheduleEnabled: false,
  });
  addProject(world, 'old+archive', []).disabled = world.release.disabledProjects;
}
