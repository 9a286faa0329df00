import { findRelease } from '../../simulator/release.ts';
import { findScenario } from '../../simulator/scenarios/scenario.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { formatComplaint } from '../domain/complaint.ts';
import type { CommandContext } from './command.ts';

export type SimulationPlan = SimulatorOptions & { readonly port: number };

/** Plans the simulated server from the flags. Returns undefined after all complaints about the flags. */
export function planSimulation(
  { arguments: { flags }, complain }: CommandContext,
  defaultPort: number,
): SimulationPlan | undefined {
  const problems: string[] = [];

  function read<Value>(flag: string, convert: (text: string) => Value): Value | undefined {
    const text = flags.get(flag)?.toString();
    if (text === undefined) return undefined;
    try {
      return convert(text);
    } catch (error) {
      problems.push(formatComplaint({ place: `--${flag}`, message: (error as Error).message }));
      return undefined;
    }
  }

  const dialect = read('dialect', toDialect);
  const scenario = read('scenario', (name) => findScenario(name).name);
  const speed = read('speed', toSpeed);
  const apiVersion = read('api-version', (text) => findRelease(dialect ?? 'rundeck', Number(text)).apiVersion);
  const port = read('port', toPort) ?? defaultPort;
  if (problems.length === 0) return { port, ...definedOnly({ dialect, scenario, speed, apiVersion }) };
  complain(`${problems.join('\n')}\n`);
  return undefined;
}

/** Describes a scenario, and the pages of the exporter that show it. */
export function describeScenario(name: string, exporterUrl: string): string {
  const { about, pages } = findScenario(name);
  const shown = pages?.map(
    ([shows, page]) => `  ${shows.padEnd(42)}${exporterUrl}/${page.replace('{server}', 'demo')}`,
  );
  return `The scenario ${name}: ${about}${shown === undefined ? '' : ` Within two minutes:\n\n${shown.join('\n')}`}`;
}

/** Starts the planned server. Returns undefined after a complaint. */
export async function startSimulation(context: CommandContext, plan: SimulationPlan): Promise<Simulator | undefined> {
  try {
    return await startSimulator(plan);
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const command = context.arguments.command === 'simulate' ? 'simulate' : 'demo';
    const inUse = `port ${plan.port} is in use: choose another for the simulated service with ${command} --port=PORT`;
    context.complain(`${code === 'EADDRINUSE' ? inUse : (message ?? String(error))}\n`);
    return undefined;
  }
}

function toDialect(text: string): 'rundeck' | 'service' {
  if (text === 'rundeck' || text === 'service') return text;
  throw new TypeError(`takes rundeck or service, found ${JSON.stringify(text)}`);
}

function toSpeed(text: string): number {
  const speed = Number(text);
  if (Number.isFinite(speed) && speed > 0) return speed;
  throw new TypeError(`takes a number above 0, found ${JSON.stringify(text)}`);
}

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new TypeError(`takes a port, 0 to 65535, found ${JSON.stringify(text)}`);
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function definedOnly<Fields extends object>(fields: Fields): Defined<Fields> {
  // This cast is safe: undefined fields are removed.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
