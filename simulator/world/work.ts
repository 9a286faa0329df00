import * as z from 'zod';
import type { Schedule } from '../engine/schedule.ts';

type StepKind = 'exec' | 'script' | 'plugin' | 'jobref' | 'conditional';

/** One step of a workflow: what it runs, its duration and failure rate. */
export type Step = {
  readonly kind: StepKind;
  /** The command, the script, the plugin type, or the id of the referenced job. */
  readonly text: string;
  readonly description?: string;
  /** True if the step runs once for each node. A job reference then has one sub-workflow for each node. */
  readonly nodeStep: boolean;
  readonly seconds: number;
  readonly failureChance: number;
  readonly reason?: string;
  /** The number of lines that the clean-up of the step writes after the step failed. */
  readonly cleanupLines?: number;
  /** The path of the key with which the step logs in to its nodes. */
  readonly key?: string;
  readonly handler?: Step;
  /** False if the run fails although the handler recovered the step; only for handlers. */
  readonly mendsRun?: boolean;
  /** The inner steps of a conditional step, and whether its condition is met. */
  readonly steps?: readonly Step[];
  readonly isMet?: boolean;
};

/** The immutable part of a run. Later edits of the job do not change the run. */
export type Work = {
  readonly nodes: readonly string[];
  readonly steps: readonly Step[];
  readonly keepGoing: boolean;
  readonly timeoutMs: number | undefined;
  /** Referenced jobs by id, resolved when the job is defined. */
  readonly references: ReadonlyMap<string, Work>;
};

export type JobDefinition = {
  readonly name: string;
  readonly group?: string;
  readonly description?: string;
  readonly work: Work;
  readonly schedule?: Schedule;
  readonly retry?: { readonly attempts: number; readonly delayMs: number };
  readonly options?: Readonly<Record<string, string>>;
  readonly multiple?: boolean;
  /** The maximum number of concurrent runs, if several are permitted; unlimited if absent. */
  readonly maxMultiple?: number;
  readonly enabled?: boolean;
  readonly scheduleEnabled?: boolean;
};

/** The conditions for new runs. Conditions are replaced as a whole. */
export const conditionsSchema = z.strictObject({
  downNodes: z.array(z.string()).readonly(),
  failureFactor: z.number(),
  durationFactor: z.number(),
  /** The jobs whose runs hang until they are aborted. */
  stuckJobs: z.array(z.string()).readonly(),
  /** The keys with which nodes refuse logins. */
  refusedKeys: z.array(z.string()).readonly(),
});

export type Conditions = Readonly<z.infer<typeof conditionsSchema>>;

export const fairWeather: Conditions = {
  downNodes: [],
  failureFactor: 1,
  durationFactor: 1,
  stuckJobs: [],
  refusedKeys: [],
};
