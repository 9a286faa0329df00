import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain, noServer } from './load.ts';
import { runApp } from './run-app.ts';
import { loadBackendsOrComplain } from './trace-backend.ts';

/** Watches the configured servers. Without a command, a file and a server, runs the demo. With --config.check, only checks. */
export async function serve(context: CommandContext): Promise<number> {
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) {
    // Complaints about the trace backend are printed too, so that the user sees all complaints together.
    await loadBackendsOrComplain(context, undefined);
    return exitCodes.misconfigured;
  }
  // A shard may have no server until servers are added.
  const hasServers = loaded.config.servers.length + loaded.otherServers > 0;
  const { command } = context.arguments;
  const isBare = command === undefined && loaded.configFile === undefined;
  if (!hasServers && !isBare && (command ?? 'serve') === 'serve') {
    context.complain(`${noServer}; \`demo\` needs none\n`);
    return exitCodes.misconfigured;
  }
  if (loaded.checkOnly) {
    if ((await loadBackendsOrComplain(context, loaded.config)) === undefined) return exitCodes.misconfigured;
    for (const line of loaded.shadowed) context.complain(`${line}\n`);
    context.write('the configuration is fine\n');
    return exitCodes.well;
  }
  return hasServers ? runApp(loaded, context) : (await import('./demo.ts')).demo(context);
}
