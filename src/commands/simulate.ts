import { once } from 'node:events';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';
import { planSimulation, startSimulation } from './simulation.ts';

export async function simulate(context: CommandContext): Promise<number> {
  const isFine = areArgumentsFine(context);
  const plan = planSimulation(context, 9721);
  if (!isFine || plan === undefined) return exitCodes.misconfigured;
  const ending = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const simulator = await startSimulation(context, plan);
  if (simulator === undefined) return exitCodes.failed;
  context.write(
    `simulated service: ${simulator.url}\ntoken: ${simulator.token}\ncontrols: ${simulator.url}/simulator\n`,
  );
  await ending;
  await simulator.stop();
  return exitCodes.well;
}
