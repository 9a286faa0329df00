import { describe, expect, it } from 'vitest';
import { type CannedAnswer, refusal, scrapeCollector, shown } from '../support/scrape.ts';

const none = { hasExecutionMetrics: () => false };

describe('collectors/execution-metrics', () => {
  it('reads the server as a whole, and the selected projects', async () => {
    const answers = {
      projects: { body: '[{"name":"ops"},{"name":"pay"}]' },
      'executions/metrics': {
        body: '{"total":1325,"duration":{"average":"1s","max":"83m","min":"0s"},"succeeded":1300,"failed":20,"successRate":98.1}',
      },
      'project/pay/executions/metrics': { body: '{"total":2,"duration":{"average":"37s","max":"59s","min":"15s"}}' },
    };
    const watch = { hasExecutionMetrics: (project: string) => project === 'pay' };
    expect(await scrape({ answers, watch })).toEqual(shown`
        # TYPE automation_execution_recent_duration_seconds gauge
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="average"} 1
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="max"} 4980
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="min"} 0
        automation_execution_recent_duration_seconds{server="prod",project="pay",window="1d",stat="average"} 37
        automation_execution_recent_duration_seconds{server="prod",project="pay",window="1d",stat="max"} 59
        automation_execution_recent_duration_seconds{server="prod",project="pay",window="1d",stat="min"} 15
        # TYPE automation_executions_recent gauge
        automation_executions_recent{server="prod",project="",window="1d"} 1325
        automation_executions_recent{server="prod",project="pay",window="1d"} 2`);
  });

  it.each<readonly [string, Upstream, string]>([
    ['36, the first with it', { apiVersion: 36 }, '{"total":7,"duration":{"average":"2m","max":"3m","min":"9s"}}'],
    ['the neutral dialect', { dialect: 'service' }, '{"duration":{"average":"2m","min":"9s","max":"3m"},"total":7}'],
    [
      'numbers and units of another form',
      {},
      '{"total":"7","duration":{"average":"1m 60s","max":"0.05h","min":"9000ms"}}',
    ],
  ])('reads %s', async (_name, upstream, body) => {
    expect(await scrape({ ...upstream, answers: { 'executions/metrics': { body } }, watch: none })).toEqual(shown`
        # TYPE automation_execution_recent_duration_seconds gauge
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="average"} 120
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="max"} 180
        automation_execution_recent_duration_seconds{server="prod",project="",window="1d",stat="min"} 9
        # TYPE automation_executions_recent gauge
        automation_executions_recent{server="prod",project="",window="1d"} 7`);
  });

  it.each([
    // Without executions, servers write every duration as "0s".
    ['no execution', '{"total":0,"duration":{"average":"0s","max":"0s","min":"0s"}}', 0],
    ['durations that can not be read', '{"total":3,"duration":{"average":"-5s","max":null,"min":"soon"}}', 3],
    ['no durations', '{"total":3}', 3],
  ])('shows no durations for %s', async (_name, body, total) => {
    expect(await scrape({ answers: { 'executions/metrics': { body } }, watch: none })).toEqual({
      outcome: 'success',
      text: `# TYPE automation_executions_recent gauge\nautomation_executions_recent{server="prod",project="",window="1d"} ${total}`,
    });
  });

  it('shows the values of the server even if a project is denied', async () => {
    const answers = {
      projects: { body: '[{"name":"pay"}]' },
      'executions/metrics': { body: '{"total":3}' },
      'project/pay/executions/metrics': refusal(403, 'api.error.item.unauthorized'),
    };
    expect(await scrape({ answers })).toEqual(shown`
        # TYPE automation_executions_recent gauge
        automation_executions_recent{server="prod",project="",window="1d"} 3`);
  });

  it.each<readonly [string, CannedAnswer, Upstream]>([
    ['forbidden', refusal(403, 'api.error.item.unauthorized'), {}],
    ['rejected', refusal(400, 'api.error.history.date-relative-format'), {}],
    // In 3.x and 4.x, the request fails with some databases while executions run.
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }, {}],
    // Release 3.0 loads every execution of the day; 3.1 and 3.2 fail with most databases.
    ['unsupported_version', { body: '{"total":3}' }, { apiVersion: 35 }],
  ])('reports %s and no series for %j', async (outcome, answer, upstream) => {
    expect(await scrape({ ...upstream, answers: { 'executions/metrics': answer }, watch: none })).toEqual({
      outcome,
      text: '',
    });
  });
});

type Upstream = Partial<Parameters<typeof scrapeCollector>[1]>;

function scrape({ answers, ...upstream }: Upstream) {
  const all = { projects: { body: '[{"name":"pay"}]' }, ...answers };
  return scrapeCollector('execution-metrics', { answers: all, ...upstream });
}
