import { listGeneralLeaves, listServerLeaves, toSecretVariable } from '../config/declare/catalogue.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { runApp } from './run-app.ts';
import { describeScenario, planSimulation, type SimulationPlan, startSimulation } from './simulation.ts';

/** Runs a simulated server and its daemon in one process. Leaves no files behind. */
export async function demo(context: CommandContext): Promise<number> {
  const asked = planSimulation(context, demoPort);
  // The configuration is checked before anything starts. The URL is a placeholder, because the port may not be known yet.
  const checked = await loadOrComplain(context, toEnvironment({ url: 'http://127.0.0.1', token: 'checked' }));
  if (asked === undefined || checked === undefined) return exitCodes.misconfigured;
  const plan = { ...asked, scenario: asked.scenario ?? 'bad-night' };
  let daemonUrl: string | undefined;
  const executionPage: SimulationPlan['executionPage'] = (server, id) =>
    daemonUrl && `${daemonUrl}/executions/${encodeURIComponent(server)}/${encodeURIComponent(id)}`;
  const simulator = await startSimulation(context, { ...plan, executionPage });
  if (simulator === undefined) return exitCodes.failed;
  try {
    const sink = toSink(context, simulator);
    const withSink = { ...context, env: { ...context.env, ...sink } };
    const loaded = await loadOrComplain(withSink, { ...toEnvironment(simulator), ...soon(context) });
    if (loaded === undefined) return exitCodes.misconfigured;
    const { traces, web } = loaded.config;
    const hasTraces = sink !== undefined && traces.enabled !== 'off';
    return await runApp(loaded, withSink, {
      onStarted: (url) => {
        daemonUrl = web.externalUrl ?? url;
        context.write(welcome(url, simulator.url, { hasTraces, scenario: plan.scenario }));
      },
    });
  } finally {
    await simulator.stop();
  }
}

const demoPort = 9721;

/** Makes the demo publish the simulated past immediately, unless configured otherwise, so that pages are not empty. */
function soon({ env }: CommandContext): Record<string, string> {
  const wishes = {
    AUTOMATION_EXPORTER_EXECUTIONS_BACKFILL: '6h',
    AUTOMATION_EXPORTER_METRICS_HOLD_NEW_SERIES: '0s',
    AUTOMATION_EXPORTER_COLLECTOR_EXECUTIONS_EVERY: '5s',
    AUTOMATION_EXPORTER_COLLECTOR_SCHEDULE_EVERY: '10s',
    AUTOMATION_EXPORTER_COLLECTOR_CHANGES_EVERY: '10s',
    AUTOMATION_EXPORTER_COLLECTOR_PROJECTS_EVERY: '10s',
    AUTOMATION_EXPORTER_COLLECTOR_PROJECT_MODES_EVERY: '10s',
    AUTOMATION_EXPORTER_TRACES_USER_NAMES: 'true',
    // The budget is high, because the simulated server has no other users and the past needs many requests.
    AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: '100',
  };
  return Object.fromEntries(Object.entries(wishes).map(([name, wish]) => [name, env[name] || wish]));
}

/** Sends traces to the trace backend of the simulated server, unless another trace backend is configured. */
function toSink({ env }: CommandContext, { url }: { url: string }): Record<string, string> | undefined {
  const isNamed = [env['OTEL_EXPORTER_OTLP_ENDPOINT'], env[tracesEndpoint]].some((value) => value?.trim());
  if (isNamed) return undefined;
  return {
    [tracesEndpoint]: `${url}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    [traceLink]: env[traceLink] || `${url}/simulator/traces#{trace_id}`,
  };
}

const tracesEndpoint = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const traceLink = 'AUTOMATION_EXPORTER_TRACES_LINK';

/** Replaces variables that are set for a real server and its state. An empty variable counts as unset. */
function toEnvironment({ url, token }: { url: string; token: string }): Record<string, string> {
  const ofState = listGeneralLeaves().filter(({ key }) => key.startsWith('state.'));
  const real = [...listServerLeaves(''), ...ofState].flatMap((leaf) => [leaf.environment, toSecretVariable(leaf)]);
  return {
    ...Object.fromEntries(real.flatMap((name) => (name === undefined ? [] : [[name, '']]))),
    AUTOMATION_EXPORTER_NAME: 'demo',
    AUTOMATION_EXPORTER_URL: url,
    AUTOMATION_EXPORTER_TOKEN: token,
    AUTOMATION_EXPORTER_STATE_MEMORY: 'true',
  };
}

type Shown = { readonly hasTraces: boolean; readonly scenario: string };

function welcome(url: string, simulatorUrl: string, { hasTraces, scenario }: Shown): string {
  const traces = hasTraces ? `\n  traces        ${simulatorUrl}/simulator/traces` : '';
  return `
Watching a simulated service at ${simulatorUrl}. Live now:

  status page   ${url}/
  metrics       ${url}/metrics
  dashboards    ${url}/dashboards/
  alert rules   ${url}/alerts/rules.yaml
  runbooks      ${url}/runbooks/${traces}
  controls      ${simulatorUrl}/simulator   (break or repair something: a node, a key, the execution mode)

${describeScenario(scenario, url)}

To watch your own server: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE. Ctrl-C stops both.

`;
}
