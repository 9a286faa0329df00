import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { runApp } from './run-app.ts';
import { startSimulation } from './simulation.ts';

/** A simulated service and the daemon that watches it, in one process; nothing stays behind. */
export async function demo(context: CommandContext): Promise<number> {
  const simulator = await startSimulation(context, demoPort);
  if (simulator === undefined) return exitCodes.failed;
  try {
    const loaded = await loadOrComplain(context, {
      AUTOMATION_EXPORTER_NAME: 'demo',
      AUTOMATION_EXPORTER_URL: simulator.url,
      AUTOMATION_EXPORTER_TOKEN: simulator.token,
      AUTOMATION_EXPORTER_STATE_MEMORY: 'true',
    });
    if (loaded === undefined) return exitCodes.misconfigured;
    return await runApp(loaded, context, { onStarted: (url) => context.write(welcome(url, simulator.url)) });
  } finally {
    await simulator.stop();
  }
}

const demoPort = 9721;

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
