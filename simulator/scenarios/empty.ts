import type { Scenario } from './scenario.ts';

/** Nothing at all: tests put there what they need. */
export const empty: Scenario = {
  name: 'empty',
  about: 'No projects, no past; everything comes through the controls.',
  alerts: [],
  members: 1,
  historyMs: 0,
  build: () => undefined,
};
