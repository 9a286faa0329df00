import type { Mutant } from './mutants.ts';

/** A mutant, and the tests to try. */
export type Order = { readonly mutant: Mutant; readonly tests: readonly string[] };

export type Answer = {
  /** The first test that fails; absent if all tests pass. */
  readonly noticedBy?: string;
  /** Test files that also fail without the fault, each with the reason: they prove nothing. */
  readonly leftOut: readonly string[];
};

/** Replaces the name of a test if the mutant never ends. */
export const endless = 'it does not end';

/** Replaces the name of a test if the mutant ends the process. */
export const ended = 'it ends the process';
