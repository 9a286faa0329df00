import { command, work } from '../../../simulator/scenarios/build.ts';
import type { Control } from '../../../simulator/simulator.ts';

/** A project with the ids of its visible jobs. */
export type Place = { readonly project: string; readonly jobs: readonly [string, ...string[]] };

export type Estate = {
  readonly places: readonly [Place, ...Place[]];
  /** The id of a hidden job: totals include its executions, but lists do not. */
  readonly hiddenJob: string;
};

/** A project in which thousands of runs end within one second. */
export const floodProject = 'flood';

/** Unusual names; the joined texts of some pairs are equal. */
const names: readonly [project: string, group: string, job: string][] = [
  ['pay', 'nightly', 'settle'],
  ['stock', 'a/b', 'c'],
  [floodProject, '', 'wave'],
  ['quiet', '', 'now and then'],
  ['a "b" \\ {c}, d="e"', 'x"} 1\n# HELP', 'line\nbreak \\n "quoted"'],
  ['__proto__', 'constructor', '__proto__'],
  ['näh 🚀', 'a', 'b/c, {job="x"}'],
];

export function createEstate(control: Control): Estate {
  const places = names.map(([project, group, job], index): Place => {
    const nodes = [`node "${index}"`, 'web\\01', 'shared'];
    control.createProject(project, nodes);
    return { project, jobs: createJobs(control, { project, group, job, nodes, index }) };
  });
  const [first] = places;
  if (first === undefined) throw new Error('an estate has places');
  const hiddenJob = control.createJob(floodProject, { name: 'out of sight' });
  return { places: [first, ...places.slice(1)], hiddenJob };
}

type JobSeed = {
  readonly project: string;
  readonly group: string;
  readonly job: string;
  readonly nodes: readonly string[];
  readonly index: number;
};

function createJobs(control: Control, { project, group, job, nodes, index }: JobSeed): Place['jobs'] {
  const plain = control.createJob(project, {
    name: job,
    group,
    work: work(nodes, [command('settle', 2, 0.1)]),
    schedule: { everyMs: 45_000, offsetMs: index * 1000 },
  });
  const long = control.createJob(project, {
    name: `${job} long`,
    group,
    multiple: true,
    work: work(nodes, [command('copy', 30, 0.05), command('check', 9, 0.05)], { timeoutMs: 40_000 }),
    schedule: { everyMs: 170_000, offsetMs: index * 7000 },
  });
  const unsteady = control.createJob(project, {
    name: 'unsteady',
    group: 'a',
    work: work(nodes, [command('try', 1, 0.5)]),
    retry: { attempts: 2, delayMs: 4000 },
    schedule: { everyMs: 130_000, offsetMs: index * 3000 },
  });
  // The second job has the same labels as the first.
  const twin = control.createJob(project, { name: job, group }, `00000000-0000-4000-8000-00000000000${index}`);
  return [plain, long, unsteady, twin];
}
