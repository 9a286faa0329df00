import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function punctualityRow(): QuestionRow {
  return {
    id: 620,
    question: 'Do enough runs start in time, month by month?',
    panels: [
      numberTile({
        id: 621,
        title: 'Punctuality budget left',
        description:
          'Share of the budget of 30 days for late and missed runs that is left. Below 0 % the objective is missed.',
        emptyReason: noRules,
        unit: 'percentunit',
        width: 8,
        height: 8,
        queries: [
          { expr: `max by (server) (slo:period_error_budget_remaining:ratio{${ofPunctuality}})`, legend: '{{server}}' },
        ],
      }),
      timeSeries({
        id: 622,
        title: 'Burn rate of the punctuality budget',
        description:
          'How fast the budget is spent: at 1 the budget lasts exactly 30 days. The dashed line is where the critical alert begins to count.',
        emptyReason: noRules,
        unit: 'none',
        width: 16,
        height: 8,
        limit: 14.4,
        queries: [{ expr: `max by (server) (slo:current_burn_rate:ratio{${ofPunctuality}})`, legend: '{{server}}' }],
      }),
    ],
  };
}

const ofPunctuality = 'sloth_slo="schedules-by-server",server=~"$server"';
const noRules = 'Empty until the recording rules are loaded and expected times are decided.';
