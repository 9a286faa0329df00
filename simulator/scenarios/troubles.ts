import { endExecution } from '../engine/finish.ts';
import { resumeIncomplete } from '../engine/storage.ts';
import type { Conditions } from '../world/work.ts';
import type { World } from '../world/world.ts';
import { addIncident, addJob, addProject, command, every, type Scenario, work } from './build.ts';
import { buildEstate, ofEstate } from './estate.ts';

const minute = 60_000;
const hour = 60 * minute;

/** The estate of the quiet day, with one kind of trouble that comes and goes. */
export const troubles: readonly Scenario[] = [
  {
    name: 'failing-night',
    about: 'For 20 minutes of every 40 steps fail twelve times as often and take longer.',
    alerts: [...ofEstate, 'AutomationErrorBudgetBurnFast', 'AutomationErrorBudgetBurnSlow'],
    members: 1,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      weatherWindow(
        world,
        liveMs,
        { everyMs: 40 * minute, lastMs: 20 * minute },
        { failureFactor: 12, durationFactor: 1.6 },
      );
    },
  },
  {
    name: 'stuck-queue',
    about: 'Three jobs hang for 15 minutes of every 30, hold all three scheduler threads, and the others wait.',
    alerts: [
      ...ofEstate,
      'AutomationSchedulerSaturated',
      'AutomationSchedulerWillSaturate',
      'AutomationExecutionOverdue',
      'AutomationScheduleLate',
      'AutomationScheduleMissed (overlap)',
      'AutomationScheduleMissed (saturated)',
      'AutomationPunctualityBurnSlow',
    ],
    members: 1,
    historyMs: hour,
    threadPoolSize: 3,
    build: (world, liveMs) => {
      const jobs = buildEstate(world);
      const stuckJobs = ['stock', 'prices', 'index'].map((name) => jobs.get(name)?.id ?? '');
      weatherWindow(world, liveMs, { everyMs: 30 * minute, lastMs: 15 * minute }, { stuckJobs });
    },
  },
  {
    name: 'passive-window',
    about: 'Passive for 3 minutes of every 10, beginning one minute after the start.',
    alerts: [
      ...ofEstate,
      'AutomationExecutionModePassiveBriefly',
      'AutomationScheduleMissed (passive)',
      'AutomationPunctualityBurnFast',
      'AutomationPunctualityBurnSlow',
    ],
    members: 1,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      const setMode = (mode: World['executionMode']) => (target: World) => {
        target.executionMode = mode;
      };
      addIncident(world, liveMs + minute, 10 * minute, setMode('passive'));
      addIncident(world, liveMs + 4 * minute, 10 * minute, setMode('active'));
    },
  },
  {
    name: 'log-storage-outage',
    about: 'The log storage refuses everything for 10 minutes of every 25, beginning one minute after the start.',
    alerts: [...ofEstate, 'AutomationLogStorageFailing'],
    members: 1,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      addIncident(world, liveMs + minute, 25 * minute, (target) => {
        target.settings.logStorageFailing = true;
      });
      addIncident(world, liveMs + 11 * minute, 25 * minute, (target) => {
        target.settings.logStorageFailing = false;
        resumeIncomplete(target);
      });
    },
  },
  {
    name: 'node-down',
    about: 'The node pay02 cannot be reached for 15 minutes of every 30.',
    alerts: [
      ...ofEstate,
      'AutomationNodeFailingEverywhere',
      'AutomationErrorBudgetBurnFast',
      'AutomationErrorBudgetBurnSlow',
    ],
    members: 1,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      weatherWindow(world, liveMs, { everyMs: 30 * minute, lastMs: 15 * minute }, { downNodes: ['pay02'] });
    },
  },
  {
    name: 'missed-night',
    about: 'The server is passive for 12 minutes of every 30: what was scheduled in between does not happen.',
    alerts: [
      ...ofEstate,
      'AutomationExecutionModePassive',
      'AutomationScheduleMissed (passive)',
      'AutomationPunctualityBurnSlow',
    ],
    members: 1,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      addIncident(world, liveMs + 3 * minute, 30 * minute, (target) => {
        target.executionMode = 'passive';
      });
      addIncident(world, liveMs + 15 * minute, 30 * minute, (target) => {
        target.executionMode = 'active';
      });
    },
  },
  {
    name: 'overlap',
    about: 'A job takes longer than the time to its next run, so that every second run does not happen.',
    alerts: [
      ...ofEstate,
      'AutomationScheduleMissed (overlap)',
      'AutomationPunctualityBurnFast',
      'AutomationPunctualityBurnSlow',
    ],
    members: 1,
    historyMs: 3 * hour,
    build: (world) => {
      buildEstate(world);
      addJob(world, addProject(world, 'reports', ['rep01']), {
        name: 'collect',
        group: 'hourly',
        description: 'Takes 70 seconds, and is scheduled every minute',
        work: work(['rep01'], [command('collect --all', 70)]),
        schedule: every(1, 'collect'),
      });
    },
  },
  {
    name: 'tight-pool',
    about: 'The scheduler has two threads: runs wait, start late, and more are expected at once than it can run.',
    alerts: [
      ...ofEstate,
      'AutomationSchedulerSaturated',
      'AutomationSchedulerWillSaturate',
      'AutomationScheduleMissed (overlap)',
      'AutomationScheduleMissed (saturated)',
      'AutomationPunctualityBurnSlow',
    ],
    members: 1,
    historyMs: 3 * hour,
    threadPoolSize: 2,
    build: buildEstate,
  },
  {
    name: 'orphaned-schedule',
    about: 'A member of a cluster stays away for 15 minutes of every 40, and its schedules with it.',
    alerts: [
      ...ofEstate,
      'AutomationScheduleOwnerGone (orphaned)',
      'AutomationScheduleMissed (unknown)',
      'AutomationPunctualityBurnFast',
      'AutomationPunctualityBurnSlow',
      'AutomationExporterSeriesDropped',
    ],
    members: 3,
    historyMs: 3 * hour,
    build: (world, liveMs) => {
      buildEstate(world);
      const setAlive = (alive: boolean) => (target: World) => {
        for (const member of target.members.slice(1, 2)) member.alive = alive;
      };
      addIncident(world, liveMs + 4 * minute, 40 * minute, setAlive(false));
      addIncident(world, liveMs + 19 * minute, 40 * minute, setAlive(true));
    },
  },
  {
    name: 'retry-storm',
    about: 'What may be tried again fails nearly always, so that most runs are retries.',
    alerts: [...ofEstate, 'AutomationErrorBudgetBurnSlow'],
    members: 1,
    historyMs: 3 * hour,
    build: (world) => {
      buildEstate(world);
      const conditions: Partial<Conditions> = { failureFactor: 7 };
      world.conditions = { ...world.conditions, ...conditions };
    },
  },
];

type Window = { readonly everyMs: number; readonly lastMs: number };

function weatherWindow(world: World, liveMs: number, { everyMs, lastMs }: Window, bad: Partial<Conditions>): void {
  const fair = world.conditions;
  const setWeather = (conditions: Conditions) => (target: World) => {
    target.conditions = conditions;
  };
  addIncident(world, liveMs + minute, everyMs, setWeather({ ...fair, ...bad }));
  addIncident(world, liveMs + minute + lastMs, everyMs, (target) => {
    setWeather(fair)(target);
    abortStuck(target, bad.stuckJobs ?? []);
  });
}

/** Someone notices and aborts what hangs. */
function abortStuck(world: World, stuckJobs: readonly string[]): void {
  for (const execution of world.executions.values()) {
    if (execution.end === undefined && stuckJobs.includes(execution.job?.id ?? '')) {
      endExecution(world, execution, { atMs: world.playedMs, stored: 'aborted', timedOut: false, abortedBy: 'amira' });
    }
  }
}
