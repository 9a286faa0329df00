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
