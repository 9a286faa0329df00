import { statSync } from 'node:fs';
import type { ServerConfig } from '../config/config.ts';

type Watched = Pick<ServerConfig, 'url' | 'members' | 'tls' | 'token' | 'bearerToken' | 'password'>;

/** How others may come by what is sent to a server, as far as its configuration and its files tell. */
export function listExposures(server: Watched, modeOf: (path: string) => number | undefined = readMode): string[] {
  const found: string[] = [];
  if (server.tls.insecureSkipVerify) {
    found.push('certificates are not verified: anyone in between can read and change what is sent');
  }
  if ([server.url, ...server.members.map(({ url }) => url)].some(isPlainToElsewhere)) {
    found.push('credentials are sent without TLS to another machine: anyone in between can read them');
  }
  for (const secret of [server.token, server.bearerToken, server.password]) {
    if (secret === undefined || !('file' in secret.source)) continue;
    const mode = modeOf(secret.source.file);
    if (mode !== undefined && (mode & forOthers) !== 0) {
      found.push(`every user of this machine may read ${secret.source.file}: let its mode be 0600`);
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
    // Whoever reads the secret says that it cannot be read.
    return undefined;
  }
}
