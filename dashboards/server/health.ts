import type { QuestionRow } from '../pieces/grid.ts';
import { stateTimeline } from '../pieces/state-timeline.ts';
import type { StateWords } from '../pieces/state-words.ts';
import { stateTile } from '../pieces/tiles.ts';

export function healthRow(): QuestionRow {
  return {
    id: 200,
    question: 'Does the server call itself healthy?',
    panels: [
      stateTile({
        id: 201,
        title: 'Health checks',
        description: 'Failing: at least one check of the server is not healthy.',
        unit: 'none',
        width: 4,
        height: 6,
        words: healthWords,
        emptyReason,
        queries: [
          {
            expr: 'min by (server, member) (automation_healthcheck_healthy{server=~"$server"})',
            legend: '{{server}} {{member}}',
          },
        ],
      }),
      stateTimeline({
        id: 202,
        title: 'Each check over time',
        description: 'The checks that the server registers, such as its database connection and its scheduler threads.',
        unit: 'none',
        width: 20,
        height: 6,
        words: healthWords,
        emptyReason,
        queries: [
          {
            expr: 'min by (server, member, check) (automation_healthcheck_healthy{server=~"$server"})',
            legend: '{{server}} {{member}}: {{check}}',
          },
        ],
      }),
    ],
  };
}

const healthWords: StateWords = { 0: ['Failing', 'bad'], 1: ['Healthy', 'good'] };

const emptyReason =
  'Empty while the server runs no health checks (release 6), or its metrics endpoints are switched off or denied.';
