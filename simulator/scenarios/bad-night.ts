import { endExecution } from '../engine/finish.ts';
import type { Schedule } from '../engine/schedule.ts';
import { requestStart } from '../engine/start.ts';
import { startOfJob } from '../world/installation.ts';
import { writeKey } from '../world/keys.ts';
import type { World } from '../world/world.ts';
import { addIncident, addJob, addProject, command, type Scenario, work } from './build.ts';
import { buildEstate } from './estate.ts';

const second = 1000;
const minute = 60 * second;

/** The scenario of the demo: within two minutes of the start, one problem of each kind that pages explain. */
export const badNight: Scenario = {
  name: 'bad-night',
  about: 'A key is replaced by a wrong one, a node goes down, and a job that became slow misses starts.',
  alerts: [
    'AutomationCommonCause',
    'AutomationErrorBudgetBurnFast',
    'AutomationErrorBudgetBurnSlow',
    'AutomationJobFailingRepeatedly',
    'AutomationJobSlower',
    'AutomationNodeFailingEverywhere',
    'AutomationPunctualityBurnFast',
    'AutomationPunctualityBurnSlow',
    'AutomationScheduleMissed (overlap)',
  ],
  members: 1,
  threadPoolSize: 20,
  historyMs: 3 * 60 * minute,
  build: (world, liveMs) => {
    buildEstate(world);
    // Nothing else fails, so that every start shows the same problems.
    world.conditions = { ...world.conditions, failureFactor: 0 };
    for (const job of world.jobs.values()) {
      const { definition } = job;
      const steps = definition.work.steps.map(({ key: _key, ...step }) => step);
      job.definition = { ...definition, work: { ...definition.work, steps, timeoutMs: undefined } };
    }
    replaceKey(world, liveMs);
    loseNode(world, liveMs);
    slowDown(world, liveMs);
  },
  pages: [
    ['eight jobs that fail because of one node', 'executions?result=failed'],
    ['a job that fails after a key change', 'jobs/{server}/payments/bank/statements'],
    ['a job that became slow', 'jobs/{server}/warehouse/orders/import'],
    ['the runs that the slow job missed', 'skipped/{server}'],
    ['coming runs at risk', 'tonight'],
  ],
};

/** Returns a cadence with a time `afterSeconds` after the start. */
function cadence(liveMs: number, afterSeconds: number, everyMs: number, fromMs = 0): Schedule {
  return { everyMs, offsetMs: (liveMs + afterSeconds * second) % everyMs, fromMs };
}

const key = 'keys/team/payments/node.pem';

function replaceKey(world: World, liveMs: number): void {
  const payments = world.projects.get('payments');
  if (payments === undefined) return;
  const job = addJob(world, payments, {
    name: 'statements',
    group: 'bank',
    description: 'Fetches new statements from the bank',
    work: work(['pay01'], [command('fetch-statements', 3, 0, { key }), command('import-statements', 2, 0)]),
    schedule: cadence(liveMs, 45, 5 * minute),
  });
  addIncident(world, liveMs + 35 * second, undefined, (target) => {
    writeKey(target.keys, key, 'bob', target.playedMs);
    const { conditions } = target;
    target.conditions = { ...conditions, refusedKeys: [...conditions.refusedKeys, key] };
  });
  // A person runs the job again, twice.
  for (const seconds of [60, 75])
    addIncident(world, liveMs + seconds * second, undefined, (target) => {
      requestStart(target, startOfJob(job, 'user', 'amira'), target.playedMs);
    });
}

/** Makes eight jobs use only one node, which no other job uses. */
function loseNode(world: World, liveMs: number): void {
  const logistics = addProject(world, 'logistics', ['log01', 'log02', 'log03']);
  const onLog02 = ['labels', 'routes', 'manifests', 'customs', 'returns', 'tracking', 'invoices', 'archive'];
  for (const [index, name] of onLog02.entries())
    addJob(world, logistics, {
      name,
      group: 'parcels',
      work: work(['log02'], [command(`make-${name}`, 6, 0)]),
      schedule: cadence(liveMs, 20 + 4 * index, 15 * minute),
    });
  for (const [index, node] of ['log01', 'log03'].entries())
    addJob(world, logistics, {
      name: `scan ${node}`,
      group: 'gates',
      work: work([node], [command('scan-gates', 6, 0)]),
      schedule: cadence(liveMs, 30 + index, 5 * minute),
    });
  addIncident(world, liveMs + 15 * second, undefined, (target) => {
    const { conditions } = target;
    target.conditions = { ...conditions, downNodes: [...conditions.downNodes, 'log02'] };
  });
}

/** Makes a run last until the next run is due. */
function slowDown(world: World, liveMs: number): void {
  const warehouse = world.projects.get('warehouse');
  if (warehouse === undefined) return;
  const toWork = (seconds: number) => work(['wh01'], [command('import-orders', seconds, 0)]);
  const job = addJob(world, warehouse, {
    name: 'import',
    group: 'orders',
    description: 'Imports new orders',
    work: toWork(10),
    schedule: cadence(liveMs, 22, 30 * second, liveMs - 75 * minute),
  });
  addIncident(world, liveMs - 60 * minute, undefined, () => {
    job.definition = { ...job.definition, work: toWork(105) };
  });
  addIncident(world, liveMs - 9 * second, undefined, (target) => {
    const execution = [...warehouse.open.values()].find((one) => one.job === job);
    if (execution === undefined) return;
    endExecution(target, execution, { atMs: target.playedMs, stored: 'aborted', timedOut: false, abortedBy: 'amira' });
  });
}
