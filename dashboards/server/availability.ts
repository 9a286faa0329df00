import type { QuestionRow } from '../pieces/grid.ts';
import { stateTimeline } from '../pieces/state-timeline.ts';
import type { StateWords } from '../pieces/state-words.ts';
import { numberTile, stateTile, textTile } from '../pieces/tiles.ts';

export function availabilityRow(): QuestionRow {
  return {
    id: 100,
    question: 'Is the service up, and may it run anything?',
    panels: [
      stateTile({
        id: 101,
        title: 'Service',
        description:
          'Up: the last vital poll received an authenticated response. Down: the last vital poll received none, for any reason.',
        unit: 'none',
        width: 4,
        height: 4,
        words: upWords,
        queries: [
          { expr: 'min by (server, member) (automation_up{server=~"$server"})', legend: '{{server}} {{member}}' },
        ],
      }),
      stateTile({
        id: 102,
        title: 'Execution mode',
        description:
          'Passive: the server does not start scheduled, manual or ad hoc executions until it is made active again.',
        unit: 'none',
        width: 4,
        height: 4,
        words: modeWords,
        queries: [{ expr: passive, legend: '{{server}} {{member}}' }],
      }),
      stateTile({
        id: 103,
        title: 'Credentials',
        description: 'Rejected: the server responds, but does not accept the credentials of the exporter.',
        unit: 'none',
        width: 4,
        height: 4,
        words: credentialWords,
        queries: [
          {
            expr: 'min by (server, member) (automation_credentials_accepted{server=~"$server"})',
            legend: '{{server}} {{member}}',
          },
        ],
      }),
      numberTile({
        id: 104,
        title: 'Running now',
        description: 'Jobs that the scheduler is running, including internal ones.',
        unit: 'short',
        width: 4,
        height: 4,
        queries: [
          {
            expr: 'sum by (server) (automation_scheduler_running_executions{server=~"$server"})',
            legend: '{{server}}',
          },
        ],
      }),
      numberTile({
        id: 105,
        title: 'Up since',
        description: 'Time since the server started. A restart interrupts running executions.',
        unit: 's',
        width: 4,
        height: 4,
        queries: [
          {
            expr: 'clamp_min(time() - max by (server, member) (automation_server_start_time_seconds{server=~"$server"}), 0)',
            legend: '{{server}} {{member}}',
          },
        ],
      }),
      textTile({
        id: 106,
        title: 'Version',
        description: 'Version reported by the server.',
        unit: 'none',
        width: 4,
        height: 4,
        queries: [
          { expr: 'max by (server, version) (automation_server_info{server=~"$server"})', legend: '{{version}}' },
        ],
      }),
      stateTimeline({
        id: 107,
        title: 'Service over time',
        description: 'Times with and without authenticated responses of the server.',
        unit: 'none',
        width: 12,
        height: 6,
        words: upWords,
        queries: [
          { expr: 'min by (server, member) (automation_up{server=~"$server"})', legend: '{{server}} {{member}}' },
        ],
      }),
      stateTimeline({
        id: 108,
        title: 'Execution mode over time',
        description: 'Times in which the server was active or passive.',
        unit: 'none',
        width: 12,
        height: 6,
        words: modeWords,
        queries: [{ expr: passive, legend: '{{server}} {{member}}' }],
      }),
    ],
  };
}

const upWords: StateWords = { 0: ['Down', 'bad'], 1: ['Up', 'good'] };
const modeWords: StateWords = { 0: ['Active', 'good'], 1: ['Passive', 'bad'] };
const credentialWords: StateWords = { 0: ['Rejected', 'bad'], 1: ['Accepted', 'good'] };

const passive = 'max by (server, member) (automation_execution_mode{mode="passive",server=~"$server"})';
