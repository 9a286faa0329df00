import { statSync } from 'node:fs';
import type { Config, ServerConfig } from '../config/config.ts';

type Watched = Pick<ServerConfig, 'url' | 'members' | 'tls' | 'token' | 'bearerToken' | 'password'>;

/** Lists ways in which others can read the traffic to a server, according to configuration and files. */
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

/** Lists files and directories through which other users can change what the exporter does. The state may not exist yet. */
export function listFileExposures(
  {
    configFile,
    webConfigFile,
    stateDirectory,
  }: { configFile: string | undefined; webConfigFile: string | undefined; stateDirectory: string | undefined },
  modeOf: (path: string) => number | undefined = readMode,
): string[] {
  const isOpen = (path: string | undefined): path is string =>
    path !== undefined && ((modeOf(path) ?? 0) & writeForOthers) !== 0;
  return [
    ...(isOpen(configFile)
      ? [`every user of this machine can change ${configFile}: set its mode to 0644 or less`]
      : []),
    ...(isOpen(webConfigFile) ? [`every user of this machine can change ${webConfigFile}: set its mode to 0640`] : []),
    ...(isOpen(stateDirectory)
      ? [`every user of this machine can replace the state in ${stateDirectory}: set its mode to 0700`]
      : []),
  ];
}

type Shown = Pick<Config, 'web' | 'webConfig'> & { readonly traces: Pick<Config['traces'], 'userNames'> };

/** Describes who can read what over HTTP; undefined if only the configured users can. */
export function describeOpenness({ web, webConfig, traces }: Shown): string | undefined {
  const isLocal = isOfThisMachine(web);
  const hasUsers = (webConfig?.users.size ?? 0) > 0;
  if (hasUsers && webConfig?.tls === undefined && !isLocal)
    return 'passwords of users cross the network without TLS: anyone in between can read them; add tls_server_config to the web configuration';
  const { isRequired = false, isVerified = false } = webConfig?.tls?.clientAuth ?? {};
  if (hasUsers || (isRequired && isVerified)) return undefined;
  const place = web.systemdSocket ? 'its systemd socket' : `port ${web.listenAddress.port} of this machine`;
  const who = isLocal ? 'every user of this machine' : `everyone who reaches ${place}`;
  const changes = web.enableLifecycle ? ', and reload the configuration and drop quarantined traces' : '';
  const names = traces.userNames ? 'jobs, nodes and users' : 'jobs and nodes';
  return `${who} can read metrics and pages, with the names of ${names}, and the configuration without its secrets${changes}; --web.config.file adds TLS and users`;
}

/** Describes the names under which browsers may open the pages; undefined if every name is permitted. */
export function describeNames(
  web: Pick<Config['web'], 'listenAddress' | 'systemdSocket' | 'externalUrl'>,
): string | undefined {
  if (web.externalUrl !== undefined || isOfThisMachine(web)) return undefined;
  return 'web.external_url is not set: browsers may open the pages by IP address or local name only, and links in alerts may lead nowhere; set it to the address of the pages';
}

function isOfThisMachine({
  listenAddress: { host },
  systemdSocket,
}: Pick<Config['web'], 'listenAddress' | 'systemdSocket'>): boolean {
  return !systemdSocket && host !== undefined && /^(localhost|127(\.\d+){3}|::1)$/.test(host);
}

const writeForOthers = 0o002;

/** The mode bits for users who are neither the owner nor in the group: read or write. */
const forOthers = 0o006;

function isPlainToElsewhere(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function readMode(path: string): number | undefined {
  try {
    return statSync(path).mode;
  } catch {
    // The function that reads the secret reports a missing file.
    return undefined;
  }
}
