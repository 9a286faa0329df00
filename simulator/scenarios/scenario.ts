import { loseMember } from '../engine/restart.ts';
import { badNight } from './bad-night.ts';
import { addIncident, addJob, addProject, command, every, type Scenario, work } from './build.ts';
import { buildEstate, ofEstate } from './estate.ts';
import { troubles } from './troubles.ts';

const quietDay: Scenario = {
  name: 'quiet-day',
  about: 'Jobs run, most of them well: one in twenty fails, which is a little more than the objective allows.',
  alerts: [...ofEstate, 'AutomationErrorBudgetBurnSlow'],
  members: 1,
  historyMs: 3 * 3_600_000,
  build: buildEstate,
};

const clusterTakeover: Scenario = {
  name: 'cluster-takeover',
  about:
    'Three members. Two minutes after the start, one is lost: its runs stay running, and another member takes its jobs.',
  alerts: [...ofEstate, 'AutomationErrorBudgetBurnSlow', 'AutomationExporterSeriesDropped'],
  members: 3,
  historyMs: 3 * 3_600_000,
  build: (world, liveMs) => {
    buildEstate(world);
    const last = world.members.at(-1);
    if (last !== undefined && world.members.length > 1) {
      addIncident(world, liveMs + 120_000, undefined, (target) => loseMember(target, last));
    }
  },
};

const thousandProjects: Scenario = {
  name: 'thousand-projects',
  about: 'A thousand projects with two jobs each; about ten of them run something every minute.',
  alerts: [],
  members: 1,
  historyMs: 600_000,
  build: (world) => {
    for (let number = 1; number <= 1000; number += 1) {
      const name = `team-${String(number).padStart(4, '0')}`;
      const nodes = [`${name}-a`, `${name}-b`];
      const project = addProject(world, name, nodes);
      const minutes = number % 100 === 0 ? 1 : 24 * 60;
      const steps = [command('prepare', 4), command('run', 9, 0.02)];
      addJob(world, project, { name: 'work', group: 'main', work: work(nodes, steps), schedule: every(minutes, name) });
      addJob(world, project, {
        name: 'cleanup',
        work: work(nodes, [command('cleanup', 3)]),
        schedule: every(24 * 60, `${name} cleanup`),
      });
    }
  },
};

/** An empty installation. Tests add what they need. */
const empty: Scenario = {
  name: 'empty',
  about: 'No projects and no executions; the controls create everything.',
  alerts: [],
  members: 1,
  historyMs: 0,
  build: () => undefined,
};

export const scenarios: readonly Scenario[] = [
  quietDay,
  badNight,
  ...troubles,
  clusterTakeover,
  thousandProjects,
  empty,
];

export const scenarioNames: readonly string[] = scenarios.map(({ name }) => name);

export function findScenario(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name);
  if (scenario === undefined) {
    throw new Error(`There is no scenario "${name}". Known ones: ${scenarioNames.join(', ')}.`);
  }
  return scenario;
}
