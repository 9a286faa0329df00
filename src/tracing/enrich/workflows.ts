import type { WorkflowStep } from '../../domain/step-state.ts';

type Steps = readonly WorkflowStep[] | undefined;

/** The workflows of jobs, asked for once in a while: most runs of a job have the same. */
export type Workflows = { readonly read: (jobId: string, ask: () => Promise<Steps>) => Promise<Steps> };

export function createWorkflows(ticks: () => number): Workflows {
  const known = new Map<string, { readonly steps: Steps; readonly untilTicks: number }>();
  return {
    read: async (jobId, ask) => {
      const found = known.get(jobId);
      if (found !== undefined && ticks() < found.untilTicks) return found.steps;
      const steps = await ask();
      // The oldest makes room: maps keep the order in which things came.
      known.delete(jobId);
      for (const oldest of known.keys()) {
        if (known.size < mostKnown) break;
        known.delete(oldest);
      }
      known.set(jobId, { steps, untilTicks: ticks() + knownForMs });
      return steps;
    },
  };
}

const knownForMs = 600_000;
const mostKnown = 500;
