import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { toCount } from '../domain/format.ts';
import { systemClock } from '../domain/system-clock.ts';
import { StateError } from '../state/state.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { toPostgresSettings } from './shared-state.ts';

export async function migrate(context: CommandContext): Promise<number> {
  const { arguments: given, complain, write } = context;
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  const { state } = loaded.config;
  const to = targets.find((target) => target === given.positionals[0]);
  const settings = toPostgresSettings(state.postgres);
  if (to === undefined || settings === undefined || state.memory) {
    complain(
      `migrate: ${to === undefined ? 'give the target: postgres or directory' : 'set state.postgres.host or state.postgres.url_file, and state.dir'}\n`,
    );
    return exitCodes.misconfigured;
  }
  const { moveState } = await import('../state/postgres/move-state.ts');
  try {
    const moved = await moveState({
      to,
      settings,
      dir: state.dir,
      overwrite: given.flags.get('overwrite') === true,
      owner: `migrate on ${hostname()}, ${randomUUID()}`,
      clock: systemClock,
    });
    for (const { unit, documents, entries, traces } of moved) {
      write(
        `${unit}: ${toCount(entries, 'execution')}, ${toCount(documents, 'document')} and ${toCount(traces, 'trace')} copied, and equal to their source\n`,
      );
    }
    return exitCodes.well;
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    complain(`${error.message}\n`);
    return exitCodes.failed;
  }
}

const targets = ['postgres', 'directory'] as const;
