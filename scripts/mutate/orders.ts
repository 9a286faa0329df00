import type { Mutant } from './mutants.ts';

/** A mutant to try with these tests. */
export type Order = { readonly mutant: Mutant; readonly tests: readonly string[] };

export type Answer = {
  /** The first test that fails; a survivor has none. */
  readonly noticedBy?: string;
  /** Test files that also fail without the fault, each with the reason: they prove nothing. */
  readonly leftOut: readonly string[];
};

/** Stands for a test if the mutant never ends; its session ends with it. */
export const endless = 'it does not end';

/** Stands for a test if the mutant ends the process of its tests. */
export const ended = 'it ends the process';
