import { endExecution } from '../engine/finish.ts';
import { resumeIncomplete } from '../engine/storage.ts';
import type { Conditions } from '../world/work.ts';
import type { World } from '../world/world.ts';
import { addIncident, addJob, addProject, command, every, type Scenario, work } from './build.ts';
import { buildEstate, ofEstate } from './estate.ts';

const minute = 60_000;
const hour = 60 * minute;

type Trouble = Partial<Scenario> & Pick<Scenario, 'name' | 'about' | 'alerts'>;

const list: readonly Trouble[] = [
  {
    name: 'failing-night',
    about: 'For 20 of every 40 minutes, steps take longer and fail twelve times as often.',
    alerts: ['AutomationErrorBudgetBurnFast', 'AutomationErrorBudgetBurnSlow', 'AutomationJobSlower'],
    build: (world, liveMs) => {
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
      'AutomationSchedulerSaturated',
      'AutomationSchedulerWillSaturate',
      'AutomationExecutionOverdue',
      'AutomationScheduleLate',
      'AutomationScheduleMissed (overlap)',
      'AutomationScheduleMissed (saturated)',
      'AutomationPunctualityBurnSlow',
    ],
    historyMs: hour,
    threadPoolSize: 3,
    build: (world, liveMs) => {
      const inWarehouse = [...world.jobs.values()].filter(({ project }) => project.name === 'warehouse');
      const stuckJobs = inWarehouse.map(({ id }) => id);
      weatherWindow(world, liveMs, { everyMs: 30 * minute, lastMs: 15 * minute }, { stuckJobs });
    },
  },
  {
    name: 'passive-window',
    about: 'Passive for 3 minutes of every 10, beginning one minute after the start.',
    alerts: [
      'AutomationExecutionModePassiveBriefly',
      'AutomationScheduleMissed (passive)',
      'AutomationPunctualityBurnFast',
      'AutomationPunctualityBurnSlow',
    ],
    build: (world, liveMs) => {
      addIncident(world, liveMs + minute, 10 * minute, setMode('passive'));
      addIncident(world, liveMs + 4 * minute, 10 * minute, setMode('active'));
    },
  },
  {
    name: 'log-storage-outage',
    about: 'The log storage refuses everything for 10 minutes of every 25, beginning one minute after the start.',
    alerts: ['AutomationLogStorageFailing'],
    build: (world, liveMs) => {
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
    alerts: ['AutomationNodeFailingEverywhere', 'AutomationErrorBudgetBurnFast', 'AutomationErrorBudgetBurnSlow'],
    build: (world, liveMs) => {
      weatherWindow(world, liveMs, { everyMs: 30 * minute, lastMs: 15 * minute }, { downNodes: ['pay02'] });
    },
  },
  {
    name: 'missed-night',
    about: 'For 12 of every 30 minutes, the server is passive: runs that are due meanwhile do not start.',
    alerts: ['AutomationExecutionModePassive', 'AutomationScheduleMissed (passive)', 'AutomationPunctualityBurnSlow'],
    build: (world, liveMs) => {
      addIncident(world, liveMs + 3 * minute, 30 * minute, setMode('passive'));
      addIncident(world, liveMs + 15 * minute, 30 * minute, setMode('active'));
    },
  },
  {
    name: 'overlap',
    about: 'A job takes longer than the time to its next run, so that every second run does not happen.',
    alerts: ['AutomationScheduleMissed (overlap)', 'AutomationPunctualityBurnFast', 'AutomationPunctualityBurnSlow'],
    build: (world) => {
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
    about: 'The scheduler has two threads, and more runs are due at the same time: runs wait and start late.',
    alerts: [
      'AutomationSchedulerSaturated',
      'AutomationSchedulerWillSaturate',
      'AutomationScheduleMissed (overlap)',
      'AutomationScheduleMissed (saturated)',
      'AutomationPunctualityBurnSlow',
    ],
    threadPoolSize: 2,
  },
  {
    name: 'orphaned-schedule',
    about: 'For 15 of every 40 minutes, a member of a cluster is down, and its schedules start no run.',
    alerts: [
      'AutomationScheduleOwnerGone (orphaned)',
      'AutomationScheduleMissed (unknown)',
      'AutomationPunctualityBurnFast',
      'AutomationPunctualityBurnSlow',
      'AutomationExporterSeriesDropped',
    ],
    members: 3,
    build: (world, liveMs) => {
      const setAlive = (alive: boolean) => (target: World) => {
        for (const member of target.members.slice(1, 2)) member.alive = alive;
      };
      addIncident(world, liveMs + 4 * minute, 40 * minute, setAlive(false));
      addIncident(world, liveMs + 19 * minute, 40 * minute, setAlive(true));
    },
  },
  {
    name: 'retry-storm',
    about: 'Jobs with retries fail nearly always, so that most runs are retries.',
    alerts: ['AutomationErrorBudgetBurnSlow'],
    build: (world) => {
      world.conditions = { ...world.conditions, failureFactor: 7 };
    },
  },
];

/** The installation of the quiet day, with one kind of trouble now and then. */
export const troubles = list.map(
  ({ alerts, build, ...trouble }): Scenario => ({
    members: 1,
    historyMs: 3 * hour,
    ...trouble,
    alerts: [...ofEstate, ...alerts],
    build: (world, liveMs) => {
      buildEstate(world);
      build?.(world, liveMs);
    },
  }),
);

function setMode(mode: World['executionMode']): (world: World) => void {
  return (world) => {
    world.executionMode = mode;
  };
}

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

/** Aborts stuck runs, as a person would. */
function abortStuck(world: World, stuckJobs: readonly string[]): void {
  for (const execution of world.executions.values()) {
    if (execution.end === undefined && stuckJobs.includes(execution.job?.id ?? '')) {
      endExecution(world, execution, { atMs: world.playedMs, stored: 'aborted', timedOut: false, abortedBy: 'amira' });
    }
  }
}
