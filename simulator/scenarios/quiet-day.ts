import { buildEstate, ofEstate } from './estate.ts';
import type { Scenario } from './scenario.ts';

export const quietDay: Scenario = {
  name: 'quiet-day',
  about: 'Jobs run, most of them well: one in twenty fails, which is a little more than the objective allows.',
  alerts: [...ofEstate, 'AutomationErrorBudgetBurnSlow'],
  members: 1,
  historyMs: 3 * 3_600_000,
  build: buildEstate,
};
