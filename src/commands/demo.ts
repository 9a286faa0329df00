import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { runApp } from './run-app.ts';
import { planSimulation, startSimulation } from './simulation.ts';

/** A simulated service and the daemon that watches it, in one process; nothing stays behind. */
export async function demo(context: CommandContext): Promise<number> {
  const plan = planSimulation(context, demoPort);
  // Nothing starts before everything is known to be right; the port may be known only then.
  const checked = await loadOrComplain(context, toEnvironment({ url: 'http://127.0.0.1', token: 'checked' }));
  if (plan === undefined || checked === undefined) return exitCodes.misconfigured;
  const simulator = await startSimulation(context, plan);
  if (simulator === undefined) return exitCodes.failed;
  try {
    const loaded = await loadOrComplain(context, { ...soon(context), ...toEnvironment(simulator) });
    if (loaded === undefined) return exitCodes.misconfigured;
    return await runApp(loaded, context, { onStarted: (url) => context.write(welcome(url, simulator.url)) });
  } finally {
    await simulator.stop();
  }
}

const demoPort = 9721;

/** The simulated past is counted and shown at once, unless the person says otherwise: numbers to look at, and a page that is not empty. */
function soon({ env }: CommandContext): Record<string, string> {
  const wishes = {
    AUTOMATION_EXPORTER_EXECUTIONS_BACKFILL: '6h',
    AUTOMATION_EXPORTER_METRICS_HOLD_NEW_SERIES: '0s',
    AUTOMATION_EXPORTER_COLLECTOR_EXECUTIONS_EVERY: '5s',
  };
  return Object.fromEntries(Object.entries(wishes).map(([name, wish]) => [name, env[name] || wish]));
}

/** What is set for a server of the person's own gives way: an empty variable is none. */
function toEnvironment({ url, token }: { readonly url: string; readonly token: string }): Record<string, string> {
  return {
    AUTOMATION_EXPORTER_NAME: 'demo',
    AUTOMATION_EXPORTER_URL: url,
    AUTOMATION_EXPORTER_TOKEN: token,
    AUTOMATION_EXPORTER_TOKEN_FILE: '',
    AUTOMATION_EXPORTER_STATE_MEMORY: 'true',
    AUTOMATION_EXPORTER_STATE_DIR: '',
  };
}

function welcome(url: string, simulatorUrl: string): string {
  return `
Watching a simulated service at ${simulatorUrl}. Live now:

  status page   ${url}/
  metrics       ${url}/metrics
  dashboards    ${url}/dashboards/
  alert rules   ${url}/alerts/rules.yaml
  runbooks      ${url}/runbooks/
  controls      ${simulatorUrl}/simulator   (make it passive, let its log storage fail)

To watch your own server: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE. Ctrl-C ends this.

`;
}
