import { buildEstate } from './estate.ts';
import type { Scenario } from './scenario.ts';

export const quietDay: Scenario = {
  name: 'quiet-day',
  about: 'Jobs run, most of them well.',
  members: 1,
  historyMs: 3 * 3_600_000,
  build: buildEstate,
};
