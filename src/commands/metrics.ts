import { renderMetricReference } from '../daemon/catalogue/reference.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';

export async function metrics(context: CommandContext): Promise<number> {
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  context.write(renderMetricReference());
  return exitCodes.well;
}
