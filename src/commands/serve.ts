import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { runApp } from './run-app.ts';
import { loadBackendsOrComplain } from './trace-backend.ts';

/** Watches the configured servers; without a command word and without a server, runs the demo. */
export async function serve(context: CommandContext): Promise<number> {
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  if (loaded.checkOnly) {
    if ((await loadBackendsOrComplain(context, loaded.config)) === undefined) return exitCodes.misconfigured;
    for (const line of loaded.shadowed) context.complain(`${line}\n`);
    context.write('the configuration is fine\n');
    return exitCodes.well;
  }
  // A shard may have no server until servers are added.
  if (loaded.config.servers.length + loaded.otherServers > 0) return runApp(loaded, context);
  const isBare = context.arguments.command === undefined && loaded.configFile === undefined;
  if (isBare) return (await import('./demo.ts')).demo(context);
  context.complain(
    'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file; `demo` needs none\n',
  );
  return exitCodes.misconfigured;
}
