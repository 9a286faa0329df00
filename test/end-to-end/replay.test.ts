import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { replay } from '../../src/commands/replay.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toText } from '../http/page-text.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { accept, startSink } from '../tracing/deliver/sink.ts';

const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function toYaml({ url }: Simulator): string {
  return `servers: [{ name: prod, url: '${url}', token_file: TOKEN, namespace: https://automation.example.org, budget: { requests_per_second: 100 } }]
collectors: { executions: { enabled: true, every: 1s } }
executions: { max_delay: 1s }
traces: { detail: steps, user_names: true, options_allow: [region], upstream: { mode: parent }, service_name: jobs }
`;
}

/** Starts a daemon that traces two failed attempts of a job. */
async function setUp() {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  const options = { traceparent: caller, region: 'eu' };
  const job = simulator.control.createJob('pay', { name: 'settle', options, retry: { attempts: 1, delayMs: 0 } });
  simulator.control.setConditions({ downNodes: ['web01'] });
  const sink = await startSink((response) => accept(response));
  onTestFinished(() => sink.stop());
  const daemon = await startDaemon({
    yaml: toYaml(simulator),
    token: simulator.token,
    flags: ['--collector.disable-defaults'],
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    },
  });
  onTestFinished(daemon.stop);
  await eventually(async () => expect(await daemon.metrics()).toMatch(/collector_success\{.*"executions"\} 1/));
  simulator.control.runJob(job, { options });
  simulator.advance(3_600_000);
  return { simulator, daemon, sink };
}

async function replayJson(simulator: Simulator, id: number): Promise<string> {
  const directory = makeFolder();
  const file = join(directory, 'config.yaml');
  writeFileSync(join(directory, 'token'), simulator.token, { mode: 0o600 });
  writeFileSync(file, toYaml(simulator).replace('TOKEN', join(directory, 'token')));
  const argv = ['replay', `--config.file=${file}`, '--json', `prod/${id}`];
  const commandLine = { commands: commandWords, flags: commandFlags };
  let printed = '';
  const code = await replay({
    env: {},
    arguments: parseArguments(argv, { collectors, commandLine }),
    version: 'test',
    write: (text) => (printed += text),
    complain: (text) => (printed += text),
  });
  expect({ code, printed }).toEqual({ code: 0, printed });
  return printed;
}

type Sent = { readonly resourceSpans: readonly object[] };

function readSent(bodies: readonly string[]): readonly object[] {
  // This cast is safe: the body is a request of OTLP in JSON. `replay` has no fingerprints, because it lacks the key of
  // the daemon.
  const ofState = /\{"key":"automation\.failure\.(?:fingerprint|first_seen)","value":\{[^}]*\}\},?/g;
  return bodies.flatMap(
    (body) => (JSON.parse(body.replaceAll(ofState, '').replaceAll(',]', ']')) as Sent).resourceSpans,
  );
}

describe('end-to-end/replay', () => {
  it('prints what the daemon sent', async () => {
    const { simulator, daemon, sink } = await setUp();
    const [first, second] = simulator.truth().executions.map(({ id }) => id);
    if (first === undefined || second === undefined) throw new Error('there are two attempts');
    const sent = await eventually(async () => {
      const found = readSent(sink.requests.map(({ body }) => body.toString('utf8')));
      expect(found).toHaveLength(2);
      return found;
    });

    const find = (id: number) =>
      sent.find((trace) =>
        JSON.stringify(trace).includes(`{"key":"cicd.pipeline.run.id","value":{"stringValue":"${id}"}}`),
      );
    const ofFirst = find(first);
    expect(readSent([await replayJson(simulator, first)])).toEqual([ofFirst]);
    expect(JSON.stringify(ofFirst)).toContain('"traceId":"0af7651916cd43dd8448eb211c80319c"');
    expect(JSON.stringify(ofFirst)).toContain('retried_by');

    // The server does not report the previous attempt.
    const ofSecond = find(second);
    expect(JSON.stringify(ofSecond)).toContain('retry_of');
    expect(await replayJson(simulator, second)).not.toContain('retry_of');

    const page = async (id: number) => toText(await (await fetch(`${daemon.url}/executions/prod/${id}`)).text());
    expect(await page(first)).toContain(`\nRetried by: #${second}\n`);
    expect(await page(second)).toContain(`\nRetry of: #${first}\n`);
  });
});
