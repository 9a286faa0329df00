import { toOwnAddress } from '../config/show/own-address.ts';
import { areArgumentsFine, type CommandContext } from './command.ts';
import { loadOrComplain } from './load.ts';

/** Finds the address of the running daemon: as the flag says, or else as the configuration does; undefined after a complaint. */
export async function findDaemon(context: CommandContext): Promise<string | undefined> {
  const given = context.arguments.flags.get('url')?.toString();
  if (given !== undefined) {
    if (!areArgumentsFine(context)) return undefined;
    if (/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '');
    context.complain('--url: is not a URL of a daemon (for example http://localhost:9720)\n');
    return undefined;
  }
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return undefined;
  if (loaded.config.web.listenAddress.port !== 0) {
    return toOwnAddress(loaded.config.web, { isTls: loaded.config.webConfig?.tls !== undefined });
  }
  context.complain('--url: is missing (the daemon listens on a random port)\n');
  return undefined;
}
