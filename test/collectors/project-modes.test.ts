import { describe, expect, it } from 'vitest';
import { refusal, scrapeCollector, shown } from '../support/scrape.ts';

const pay = { projects: { body: '[{"name":"pay"}]' } };
const executionsKey = 'project/pay/config/project.disable.executions';
const scheduleKey = 'project/pay/config/project.disable.schedule';
const absent = refusal(404, 'api.error.item.doesnotexist');
const denied = refusal(403, 'api.error.item.unauthorized');

describe('collectors/project-modes', () => {
  it('reads the modes of all projects from the project list of API 47', async () => {
    const project = (name: string, executionsEnabled: boolean, scheduleEnabled: boolean) =>
      `{"name":"${name}","label":"","meta":[{"name":"config","data":{"executionsEnabled":${executionsEnabled},"scheduleEnabled":${scheduleEnabled}}}]}`;
    const list = [
      project('a', true, true),
      project('b', false, true),
      project('c', true, false),
      project('d', false, false),
    ];
    expect(await scrape({ answers: { projects: { body: `[${list.join(',')}]` } } })).toEqual(shown`
        # TYPE automation_project_execution_mode gauge
        automation_project_execution_mode{server="prod",project="a",mode="active"} 1
        automation_project_execution_mode{server="prod",project="a",mode="disabled"} 0
        automation_project_execution_mode{server="prod",project="a",mode="executions_disabled"} 0
        automation_project_execution_mode{server="prod",project="a",mode="schedule_disabled"} 0
        automation_project_execution_mode{server="prod",project="b",mode="active"} 0
        automation_project_execution_mode{server="prod",project="b",mode="disabled"} 0
        automation_project_execution_mode{server="prod",project="b",mode="executions_disabled"} 1
        automation_project_execution_mode{server="prod",project="b",mode="schedule_disabled"} 0
        automation_project_execution_mode{server="prod",project="c",mode="active"} 0
        automation_project_execution_mode{server="prod",project="c",mode="disabled"} 0
        automation_project_execution_mode{server="prod",project="c",mode="executions_disabled"} 0
        automation_project_execution_mode{server="prod",project="c",mode="schedule_disabled"} 1
        automation_project_execution_mode{server="prod",project="d",mode="active"} 0
        automation_project_execution_mode{server="prod",project="d",mode="disabled"} 1
        automation_project_execution_mode{server="prod",project="d",mode="executions_disabled"} 0
        automation_project_execution_mode{server="prod",project="d",mode="schedule_disabled"} 0`);
  });

  it.each<readonly [string, Upstream, string]>([
    [
      'the answer of 46 for one project, without the right to configure it',
      {
        apiVersion: 46,
        answers: {
          'project/pay/meta': {
            body: '[{"name":"sysMode","data":{"active":true}},{"name":"config","data":{"executionsEnabled":true,"scheduleEnabled":false}}]',
          },
        },
      },
      'schedule_disabled',
    ],
    [
      'a server of API 47 whose list has no modes',
      {
        dialect: 'service',
        answers: {
          'project/pay/meta': {
            body: '[{"name":"config","data":{"executionsEnabled":false,"scheduleEnabled":false}}]',
          },
        },
      },
      'disabled',
    ],
    [
      'keys of 33 that are not set',
      { apiVersion: 33, answers: { [executionsKey]: absent, [scheduleKey]: absent } },
      'active',
    ],
    [
      'keys of 26 that are set',
      {
        apiVersion: 26,
        answers: {
          [executionsKey]: { body: '{"key":"project.disable.executions","value":"true"}' },
          [scheduleKey]: { body: '{"key":"project.disable.schedule","value":"true"}' },
        },
      },
      'disabled',
    ],
    [
      'keys of 18 that are set to anything but "true"',
      {
        apiVersion: 18,
        answers: {
          [executionsKey]: { body: '{"key":"project.disable.executions","value":"false"}' },
          [scheduleKey]: { body: '{"key":"project.disable.schedule","value":""}' },
        },
      },
      'active',
    ],
    [
      'a key of 14',
      {
        apiVersion: 14,
        answers: {
          [executionsKey]: { body: '{"key":"project.disable.executions","value":"true"}' },
          [scheduleKey]: absent,
        },
      },
      'executions_disabled',
    ],
    [
      // As in the API reference, "Projects".
      'keys of the neutral dialect',
      {
        apiVersion: 17,
        dialect: 'service',
        answers: {
          [executionsKey]: { body: '{"project.disable.executions":"false"}' },
          [scheduleKey]: { body: '{"project.disable.schedule":"true"}' },
        },
      },
      'schedule_disabled',
    ],
  ])('reads %s', async (_name, upstream, mode) => {
    const answers = { projects: { body: '[{"name":"pay"}]' }, ...upstream.answers };
    const states = ['active', 'disabled', 'executions_disabled', 'schedule_disabled'];
    const samples = states.map(
      (state) =>
        `automation_project_execution_mode{server="prod",project="pay",mode="${state}"} ${Number(state === mode)}`,
    );
    expect(await scrape({ ...upstream, answers })).toEqual({
      outcome: 'success',
      text: ['# TYPE automation_project_execution_mode gauge', ...samples].join('\n'),
    });
  });

  it.each<readonly [string, string, Upstream]>([
    ['success', 'no project', { answers: { projects: { body: '[]' } } }],
    [
      'success',
      'a meta answer without the modes',
      { apiVersion: 46, answers: { ...pay, 'project/pay/meta': { body: '[{"name":"authz","data":{}},null,7]' } } },
    ],
    ['forbidden', 'keys that cannot be read', { apiVersion: 45, answers: { ...pay, [executionsKey]: denied } }],
    ['forbidden', 'a meta that cannot be read', { apiVersion: 46, answers: { ...pay, 'project/pay/meta': denied } }],
    [
      'unauthorized',
      'refused credentials',
      { apiVersion: 46, answers: { ...pay, 'project/pay/meta': refusal(403, 'unauthorized') } },
    ],
    [
      'success',
      'a project that is disabled',
      { apiVersion: 46, answers: { ...pay, 'project/pay/meta': refusal(404, 'api.error.project.disabled') } },
    ],
    [
      'success',
      'keys of a project that went',
      { apiVersion: 45, answers: { ...pay, [executionsKey]: refusal(404, 'api.error.project.missing') } },
    ],
    [
      'not_found',
      'a path that is not there',
      { apiVersion: 45, answers: { ...pay, [executionsKey]: refusal(404, 'api.error.invalid.request') } },
    ],
    [
      'decode',
      'a key without a value',
      { apiVersion: 45, answers: { ...pay, [executionsKey]: { body: '{"key":"project.disable.executions"}' } } },
    ],
    [
      'decode',
      'the value of another key',
      { apiVersion: 45, answers: { ...pay, [executionsKey]: { body: '{"key":"other","value":"true"}' } } },
    ],
  ])('reports %s and no series for %s', async (outcome, _name, upstream) => {
    expect(await scrape(upstream)).toEqual({ outcome, text: '' });
  });
});

type Upstream = Parameters<typeof scrapeCollector>[1];

function scrape(upstream: Upstream) {
  return scrapeCollector('project-modes', upstream);
}
