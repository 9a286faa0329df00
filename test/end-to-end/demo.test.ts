import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAll } from '../support/all.ts';
import { eventually } from '../support/eventually.ts';
import { accept, startSink } from '../tracing/deliver/sink.ts';
import { type Demo, type DemoOptions, startDemo } from './start-demo.ts';

async function start(options?: DemoOptions): Promise<Demo> {
  const demo = await startDemo(options);
  onTestFinished(() => demo.stop());
  return demo;
}

describe('end-to-end/demo, without configuration', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemo();
    return demo.stop;
  });

  it('watches its simulated service within three seconds', async () => {
    const text = await eventually(
      async () => {
        const scraped = await (await fetch(`${demo.url}/metrics`)).text();
        expect(scraped).toContain('\nautomation_up{server="demo"} 1\n');
        return scraped;
      },
      { limitMs: 3000 },
    );
    expect(text).toContain('\nautomation_execution_mode{server="demo",mode="active"} 1\n');
    expect(text).toContain('\nautomation_credentials_accepted{server="demo"} 1\n');
  });

  it('counts its simulated past within seconds', async () => {
    await eventually(
      async () => {
        const scraped = await (await fetch(`${demo.url}/metrics`)).text();
        expect(scraped).toMatch(/^automation_executions_total\{.*status="succeeded"\} [1-9]/m);
      },
      { limitMs: 15_000 },
    );
    const page = await (await fetch(`${demo.url}/`)).text();
    expect(page).toContain('<h3>Runs now');
    expect(page).toContain('<h3>Ended last</h3>');
  });

  it('prints only links that open', async () => {
    const links = [...demo.output().matchAll(/^ {2}(\w[\w ]*?) {2,}(http:\S+)/gm)].map(([, title, link]) => [
      title,
      link,
    ]);

    expect(links).toEqual([
      ['status page', `${demo.url}/`],
      ['metrics', `${demo.url}/metrics`],
      ['dashboards', `${demo.url}/dashboards/`],
      ['alert rules', `${demo.url}/alerts/rules.yaml`],
      ['runbooks', `${demo.url}/runbooks/`],
      ['traces', `${demo.simulatorUrl}/simulator/traces`],
      ['controls', `${demo.simulatorUrl}/simulator`],
      ['eight jobs that fail because of one node', `${demo.url}/executions?result=failed`],
      ['a job that fails after a key change', `${demo.url}/jobs/demo/payments/bank/statements`],
      ['a job that became slow', `${demo.url}/jobs/demo/warehouse/orders/import`],
      ['the runs that the slow job missed', `${demo.url}/skipped/demo`],
      ['coming runs at risk', `${demo.url}/tonight`],
    ]);
    for (const [title, link = ''] of links) {
      // A job has a page only after it is listed.
      await eventually(async () => {
        const { status } = await fetch(link);
        expect({ title, status }).toEqual({ title, status: 200 });
      });
    }
  });

  it('links from an execution to its trace, and back', async () => {
    const { url, simulatorUrl } = demo;

    const read = async (path: string): Promise<string> => (await fetch(`${url}/${path}`)).text();
    const { id, page } = await eventually(
      async () => {
        const ids = [...(await read('executions')).matchAll(/"\.\/executions\/demo\/(\d+)"/g)].map(
          ([, one = '']) => one,
        );
        for (const one of ids.slice(0, 10)) {
          const text = await read(`executions/demo/${one}`);
          if (text.includes('<h2>Steps</h2>')) return { id: one, page: text };
        }
        throw new Error('no execution shows its steps yet');
      },
      { limitMs: 15_000 },
    );
    const [link = '', traceId] = /http:[^"]*\/simulator\/traces#([0-9a-f]{32})/.exec(page) ?? [];
    expect(link).toBe(`${simulatorUrl}/simulator/traces#${traceId}`);
    await eventually(async () => {
      const list = await (await fetch(link)).text();
      expect(list).toContain(`<tr id="${traceId}"><th scope="row"><a href="${url}/executions/demo/${id}">`);
    });
  });
});

describe('end-to-end/demo, as configured', () => {
  let demo: Demo;
  beforeAll(async () => {
    const overrides = [
      { match: 'payments/health probe', success_age: '26h' },
      { match: 'payments/.*', success_age: '2h' },
    ];
    demo = await startDemo({
      flags: [
        `--jobs.overrides=${JSON.stringify(overrides)}`,
        '--traces.enabled=off',
        '--web.external-url=https://exporter.example.org/here/',
      ],
      env: {
        AUTOMATION_EXPORTER_EXECUTIONS_BACKFILL: '1h',
        AUTOMATION_EXPORTER_NAME: 'prod',
        AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9',
        AUTOMATION_EXPORTER_TOKEN_FILE: './no-such-file',
        AUTOMATION_EXPORTER_STATE_DIR: './state',
      },
    });
    return demo.stop;
  });

  it('uses the configured start of counting', async () => {
    expect(await (await fetch(`${demo.url}/config`)).text()).toContain('\n  backfill: 1h\n');
  });

  it("uses the configured limit for the age of a job's last success", async () => {
    await eventually(
      async () => {
        const scraped = await (await fetch(`${demo.url}/metrics`)).text();
        const limits = scraped
          .split('\n')
          .filter((line) => line.startsWith('automation_job_success_age_limit_seconds{'));
        const told = limits.map((line) => [/job_name="([^"]*)"/.exec(line)?.[1], line.split(' ').at(-1)]);
        expect(told).toEqual(
          expect.arrayContaining([
            ['health probe', '93600'],
            ['reconcile', '7200'],
          ]),
        );
        expect(limits.filter((line) => !line.includes('project="payments"'))).toEqual([]);
      },
      { limitMs: 15_000 },
    );
  });

  it('makes no traces if traces are switched off', async () => {
    const { output, url } = demo;
    expect(output()).not.toContain('/simulator/traces');
    expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('automation_exporter_spool_traces ');
  });

  it('uses the configured address in links of rules and dashboards', async () => {
    const rules = await (await fetch(`${demo.url}/alerts/rules.yaml`)).text();
    expect(rules).toContain('https://exporter.example.org/here/runbooks/AutomationServiceDown');
    const dashboard = await (await fetch(`${demo.url}/dashboards/overview.json`)).text();
    expect(rules + dashboard).not.toContain('localhost:9720');
  });

  it('ignores settings for a real server', async () => {
    const { url, directory } = demo;
    const text = await eventually(async () => {
      const scraped = await (await fetch(`${url}/metrics`)).text();
      expect(scraped).toContain('automation_up{');
      return scraped;
    });
    expect(text).toContain('\nautomation_up{server="demo"} 1\n');
    expect(text).not.toContain('server="prod"');
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('end-to-end/demo', () => {
  // On an idle machine, the page shows these problems within two minutes. On a loaded one, the exporter requests schedules more slowly.
  it.each(isAll ? ['each kind'] : [])('shows a problem of %s', { timeout: 450_000 }, async () => {
    const { url } = await start();
    const read = async (path: string): Promise<string> => (await fetch(`${url}/${path}`)).text();
    await eventually(
      async () => {
        const { problems } = (await (await fetch(`${url}/api/status`)).json()) as { problems: { text: string }[] };
        const texts = problems.map(({ text }) => text).join('\n');
        expect(texts).toMatch(/"demo": \d+ of \d+ failed jobs share node log02\./);
        expect(texts).toMatch(/scheduled runs? w(as|ere) missed\. Cause: overlap; warehouse\/orders\/import\./);
        expect(texts).toContain('payments/bank/statements (access: key keys/team/payments/node.pem changed by bob)');
        expect(texts).toContain('1 job has become slower. warehouse/orders/import.');
      },
      { limitMs: 420_000 },
    );
    expect(await read('jobs/demo/payments/bank/statements')).toContain(
      'keys/team/payments/node.pem</bdi>: <bdi>changed</bdi> by <bdi>bob</bdi>',
    );
    const tonight = await read('tonight');
    expect(tonight).toMatch(/Node log02 fails everywhere since .*: [\d,]+ runs, first/);
    expect(tonight).toContain('Further risks of these runs');
  });

  it('sends traces to a configured backend', async () => {
    const sink = await startSink((response) => accept(response));
    onTestFinished(() => sink.stop());
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.url.replace('/v1/traces', ''),
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    };
    const { output, simulatorUrl } = await start({ env });
    await eventually(async () => expect(sink.requests.length).toBeGreaterThan(0), { limitMs: 15_000 });
    expect(sink.requests[0]?.body.toString('utf8')).toContain('"cicd.pipeline.run.id"');
    expect(output()).not.toContain('/simulator/traces');
    expect(await (await fetch(`${simulatorUrl}/simulator/traces`)).text()).toContain('No trace has arrived yet.');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends within a second of %s', async (signal) => {
    const demo = await start();
    // The demo has started; a connection is idle, like that of a browser.
    await eventually(async () => {
      expect(await (await fetch(`${demo.url}/metrics`)).text()).toContain('\nautomation_up{server="demo"} 1\n');
    });

    const askedAtMs = performance.now();
    demo.kill(signal);
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - askedAtMs).toBeLessThan(1000);
    expect(readdirSync(demo.directory)).toEqual([]);
    await expect(fetch(`${demo.url}/-/healthy`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await expect(fetch(`${demo.simulatorUrl}/simulator`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
