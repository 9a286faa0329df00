import { readFile } from 'node:fs/promises';
import { toOwnAddress } from '../config/values/address.ts';
import { readSecretFile, type Secret, SecretError } from '../domain/secret.ts';
import { areArgumentsFine, type CommandContext } from './command.ts';
import { loadOrComplain } from './load.ts';

export type Daemon = {
  /** The URL of the daemon, without a slash at the end. */
  readonly url: string;
  /** The user to log in as, if the daemon has users. */
  readonly login?: Login;
};

export type Login = { readonly username: string; readonly password: Secret };

/** Finds the running daemon by the flag or else by the configuration. Returns undefined after a complaint. */
export async function findDaemon(context: CommandContext): Promise<Daemon | undefined> {
  const given = context.arguments.flags.get('url')?.toString();
  if (given === undefined) return findConfigured(context);
  if (!areArgumentsFine(context)) return undefined;
  if (!/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(given) || !URL.canParse(given)) {
    context.complain('--url: is not a URL of a daemon (for example http://localhost:9720)\n');
    return undefined;
  }
  // With `--url`, the configuration is not read, because it may be for another machine.
  const read = (flag: string, variable: string) =>
    context.arguments.flags.get(flag)?.toString() ?? (context.env[variable] || undefined);
  return addLogin(context, given.replace(/\/+$/, ''), {
    username: read('web.username', 'AUTOMATION_EXPORTER_WEB_USERNAME'),
    passwordFile: read('web.password-file', 'AUTOMATION_EXPORTER_WEB_PASSWORD_FILE'),
  });
}

async function findConfigured(context: CommandContext): Promise<Daemon | undefined> {
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return undefined;
  const { web, webConfig } = loaded.config;
  if (web.listenAddress.port !== 0)
    return addLogin(context, toOwnAddress(web, { isTls: webConfig?.tls !== undefined }), web);
  context.complain('--url: is missing (the daemon listens on a random port)\n');
  return undefined;
}

type NamedLogin = { username: string | undefined; passwordFile: string | undefined };

async function addLogin(
  { complain }: CommandContext,
  url: string,
  { username, passwordFile }: NamedLogin,
): Promise<Daemon | undefined> {
  if (username === undefined && passwordFile === undefined) return { url };
  if (username === undefined || passwordFile === undefined) {
    const [missing, other] = username === undefined ? ['username', 'password-file'] : ['password-file', 'username'];
    complain(`--web.${missing}: is missing (--web.${other} needs it)\n`);
    return undefined;
  }
  try {
    const password = await readSecretFile(passwordFile, (path) => readFile(path, 'utf8'), 'form');
    return { url, login: { username, password } };
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    complain(`--web.password-file: ${error.message}\n`);
    return undefined;
  }
}
