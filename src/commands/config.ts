import { toEffectiveYaml } from '../config/show/effective-config.ts';
import { toJsonSchema } from '../config/show/json-schema.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { listFamilies } from './reserved-labels.ts';

export async function config(context: CommandContext): Promise<number> {
  if (context.arguments.flags.get('schema') === true) {
    if (!areArgumentsFine(context)) return exitCodes.misconfigured;
    context.write(`${JSON.stringify(toJsonSchema(collectors, listFamilies()), undefined, 2)}\n`);
    return exitCodes.well;
  }
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  context.write(toEffectiveYaml(loaded.config));
  return exitCodes.well;
}
