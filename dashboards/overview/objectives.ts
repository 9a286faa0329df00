import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function objectivesRow(): QuestionRow {
  return {
    id: 850,
    question: 'Do enough executions succeed, month by month?',
    panels: [
      numberTile({
        id: 851,
        title: 'Error budget left',
        description: 'Share of the error budget of 30 days that is left. Below 0 % the objective is missed.',
        emptyReason: noRules,
        unit: 'percentunit',
        width: 8,
        height: 8,
        queries: [
          { expr: `max by (server) (slo:period_error_budget_remaining:ratio{${byServer}})`, legend: '{{server}}' },
        ],
      }),
      timeSeries({
        id: 852,
        title: 'Burn rate',
        description:
          'How fast the error budget is spent: at 1 the budget lasts exactly 30 days. The dashed line is where the critical alert begins to count.',
        emptyReason: noRules,
        unit: 'none',
        width: 8,
        height: 8,
        limit: 14.4,
        queries: [{ expr: `max by (server) (slo:current_burn_rate:ratio{${byServer}})`, legend: '{{server}}' }],
      }),
      joinedTable({
        id: 853,
        title: 'Projects with the least budget left',
        description: 'The ten projects that have spent the most of their error budget of 30 days.',
        emptyReason: noRules,
        unit: 'percentunit',
        width: 8,
        height: 8,
        labels: { server: 'Server', project: 'Project' },
        values: [
          {
            heading: 'Budget left',
            expr: `bottomk(10, max by (server, project) (slo:period_error_budget_remaining:ratio{${byProject}}))`,
          },
        ],
        sortBy: 'Budget left',
      }),
    ],
  };
}

const byServer = 'sloth_slo="executions-by-server",server=~"$server"';
const byProject = 'sloth_slo="executions-by-project",server=~"$server"';
const noRules = 'Empty until executions have ended while the rules were loaded.';
