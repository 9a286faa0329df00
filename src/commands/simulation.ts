import { type Simulator, startSimulator } from '../simulator/simulator.ts';
import type { CommandContext } from './command.ts';

/** The simulated service as the flags want it; undefined after a complaint. */
export async function startSimulation(context: CommandContext, defaultPort: number): Promise<Simulator | undefined> {
  const flags = context.arguments.flags;
  const text = (name: string): string | undefined => flags.get(name)?.toString();
  const number = (name: string): number | undefined => (flags.has(name) ? Number(text(name)) : undefined);
  const wrong = ['speed', 'port', 'api-version'].filter((name) => Number.isNaN(number(name) ?? 0));
  const dialect = text('dialect') ?? 'rundeck';
  if (dialect !== 'rundeck' && dialect !== 'service') wrong.push('dialect');
  if (wrong.length > 0) {
    context.complain(wrong.map((name) => `--${name}: not understood (${String(flags.get(name))})\n`).join(''));
    return undefined;
  }
  try {
    return await startSimulator({
      port: number('port') ?? defaultPort,
      dialect: dialect === 'service' ? 'service' : 'rundeck',
      ...definedOnly({ scenario: text('scenario'), speed: number('speed'), apiVersion: number('api-version') }),
    });
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message?: string };
    const inUse = `port ${number('port') ?? defaultPort} is in use: choose another for the simulated service with --port`;
    context.complain(`${code === 'EADDRINUSE' ? inUse : (message ?? String(error))}\n`);
    return undefined;
  }
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function definedOnly<Fields extends object>(fields: Fields): Defined<Fields> {
  // The cast is true: what is undefined is left out.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
