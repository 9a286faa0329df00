import { type CommandContext, exitCodes } from './command.ts';
import { renderMetricReference } from './reference.ts';

/** The reference of all metrics. */
export async function metrics({ write }: CommandContext): Promise<number> {
  write(renderMetricReference());
  return exitCodes.well;
}
