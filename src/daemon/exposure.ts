import { statSync } from 'node:fs';
import type { ServerConfig } from '../config/config.ts';

type Watched = Pick<ServerConfig, 'url' | 'members' | 'tls' | 'token' | 'bearerToken' | 'password'>;

/** Lists the ways by which others may read the traffic to a server, as far as its configuration and its files show. */
export function listExposures(server: Watched, modeOf: (path: string) => number | undefined = readMode): string[] {
  const found: string[] = [];
  if (server.tls.insecureSkipVerify) {
    found.push('certificates are not verified: anyone between exporter and server can read and change the traffic');
  }
  if ([server.url, ...server.members.map(({ url }) => url)].some(isPlainToElsewhere)) {
    found.push('credentials are sent to another machine without TLS: anyone in between can read them');
  }
  for (const secret of [server.token, server.bearerToken, server.password]) {
    if (secret === undefined || !('file' in secret.source)) continue;
    const mode = modeOf(secret.source.file);
    if (mode !== undefined && (mode & forOthers) !== 0) {
      found.push(`every user of this machine can read ${secret.source.file}: set its mode to 0600`);
    }
  }
  return found;
}

/** Lists the files and directories by which others may change what the exporter does; the state may not be there yet. */
export function listFileExposures(
  {
    configFile,
    stateDirectory,
  }: { readonly configFile: string | undefined; readonly stateDirectory: string | undefined },
  modeOf: (path: string) => number | undefined = readMode,
): string[] {
  const isOpen = (path: string | undefined): path is string =>
    path !== undefined && ((modeOf(path) ?? 0) & writeForOthers) !== 0;
  return [
    ...(isOpen(configFile)
      ? [`every user of this machine can change ${configFile}: set its mode to 0644 or less`]
      : []),
    ...(isOpen(stateDirectory)
      ? [`every user of this machine can replace the state in ${stateDirectory}: set its mode to 0700`]
      : []),
  ];
}

const writeForOthers = 0o002;

/** Read or write for those who are neither its owner nor of its group. */
const forOthers = 0o006;

function isPlainToElsewhere(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function readMode(path: string): number | undefined {
  try {
    return statSync(path).mode;
  } catch {
    // The reader of the secret reports that it cannot be read.
    return undefined;
  }
}
