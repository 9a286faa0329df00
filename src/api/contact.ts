import type { ExecutionMode } from '../domain/execution.ts';
import { createJoin } from '../domain/pause.ts';
import { toStartMs } from '../domain/time.ts';
import { type Dialect, dialectOfHeaders } from './dialect.ts';
import type { SystemInfo } from './endpoints/system.ts';
import { ApiError } from './errors.ts';

/** The newest API version that the client uses by default, and that the API documents describe. */
const newestApiVersion = 47;
/** The oldest API version that present servers accept. */
const oldestApiVersion = 14;

export type ServerFacts = {
  readonly dialect: Dialect | undefined;
  readonly apiVersion: number | undefined;
  /** The release of the server, such as `5.3.0-20240520`. */
  readonly release: string | undefined;
  readonly startedAtMs?: number | undefined;
  /** True if several cluster members respond at this address. */
  readonly hidesMembers: boolean;
  /** The mode of all members that responded lately; undefined if their modes differ. */
  readonly mode?: ExecutionMode | undefined;
  /** The starts of the members that responded lately. */
  readonly memberStarts?: ReadonlyMap<string, number>;
};

export type Contact = {
  readonly facts: () => ServerFacts;
  readonly version: () => number | undefined;
  /** Reports whether the server supports this API version, even if it is newer than the version in use. */
  readonly hasVersion: (version: number) => boolean;
  /** Returns the API version to use. The first caller determines the version, and other callers wait. */
  readonly settle: (ask: (version: number) => Promise<SystemInfo>) => Promise<number>;
  readonly learn: (info: SystemInfo) => void;
  /** Call with the time in system information and the date in its headers. A proxy may have written this date. */
  readonly learnDate: (timestampMs: number | undefined, dateMs: number | undefined) => void;
  /** Converts the date of a response to the server time. */
  readonly toServerMs: (dateMs: number | undefined) => number | undefined;
  readonly learnFromHeaders: (headers: Readonly<Record<string, string>>) => void;
  readonly learnFromFault: (error: ApiError) => void;
};

type Settings = { dialect: Dialect | 'auto'; apiVersion: number | 'auto' };

/** The API version at the last contact with the address, kept over a reload. */
export type VersionMemory = { apiVersion?: number | undefined };

/** Collects the facts about a server: its dialect, and the API version that both sides support. */
export function createContact(settings: Settings, memory: VersionMemory = {}): Contact {
  let dialect = settings.dialect === 'auto' ? undefined : settings.dialect;
  let apiVersion = settings.apiVersion === 'auto' ? undefined : settings.apiVersion;
  let newestOfServer: number | undefined;
  let seen: Pick<ServerFacts, 'release' | 'startedAtMs'> = { release: undefined };
  const members = createMemberSight();
  let isMet = false;
  const joinSettling = createJoin<number>();

  function learn(info: SystemInfo): void {
    if (settings.dialect === 'auto') dialect = info.dialect ?? dialect;
    seen = { release: info.server.version ?? seen.release, startedAtMs: info.stats.uptime.since ?? seen.startedAtMs };
    members.note(info);
    // A newer version shows that the server was upgraded.
    const newest = Number(info.server.apiVersion);
    if (settings.apiVersion !== 'auto' || !(newest >= oldestApiVersion)) return;
    newestOfServer = newest;
    apiVersion = Math.min(newest, newestApiVersion);
    memory.apiVersion = apiVersion;
  }

  /** Requests system information in the previous or newest API version. An older server's error may name its newest version. */
  async function negotiate(ask: (version: number) => Promise<SystemInfo>): Promise<number> {
    const { apiVersion: assumed = newestApiVersion } = memory;
    try {
      learn(await ask(assumed));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === 'unsupported_version') {
        const older = toOlderVersion(error);
        // System information is requested again, because the error lacks dialect and release.
        await ask(older).then(learn, () => undefined);
        return older;
      }
      if (error.details.status === undefined || error.kind === 'unauthorized') throw error;
      // Other errors say nothing about the version: system information may be denied or broken while other endpoints work.
    }
    return apiVersion ?? assumed;
  }

  /** Reads the dialect and the release for a configured API version, if system information can be read. */
  async function meet(ask: (version: number) => Promise<SystemInfo>, version: number): Promise<number> {
    await ask(version).then(learn, () => undefined);
    return version;
  }

  return {
    facts: () => ({ ...seen, dialect, apiVersion, hidesMembers: members.hasSeveral(), ...members.known() }),
    version: () => (isMet ? apiVersion : undefined),
    hasVersion: (version) => newestOfServer !== undefined && newestOfServer >= version,
    settle: async (ask) => {
      const { apiVersion: configured } = settings;
      apiVersion = await joinSettling(() => (configured === 'auto' ? negotiate(ask) : meet(ask, configured)));
      if (configured === 'auto') memory.apiVersion = apiVersion;
      isMet = true;
      return apiVersion;
    },
    learn,
    ...createServerDates(),
    learnFromHeaders: (headers) => {
      if (settings.dialect === 'auto') dialect ??= dialectOfHeaders(headers);
    },
    learnFromFault: ({ kind, details }) => {
      // The server may have another release after an outage, so the contact is made again.
      const isNewContact = kind === 'network' || (kind === 'unsupported_version' && details.status !== undefined);
      if (settings.apiVersion === 'auto' && isNewContact) {
        apiVersion = undefined;
        memory.apiVersion = undefined;
        newestOfServer = undefined;
      }
      // The token headers of both dialects are sent again, because the assumed dialect may be wrong.
      if (settings.dialect === 'auto' && kind === 'unauthorized') dialect = undefined;
    },
  };
}

/** Stores the server time and its difference to the dates of headers. */
function createServerDates(): Pick<Contact, 'learnDate' | 'toServerMs'> {
  let dateOffMs = 0;
  return {
    learnDate: (timestampMs, dateMs) => {
      if (timestampMs === undefined || dateMs === undefined) return;
      // A second is subtracted, because dates are cut to the second and a response takes time.
      const offMs = timestampMs - dateMs;
      dateOffMs = Math.abs(offMs) > usualOffMs ? offMs - 1000 : 0;
    },
    // The clock of the proxy may change before the next response with the server's own time.
    toServerMs: (dateMs) => (dateMs === undefined ? undefined : toStartMs(dateMs + dateOffMs)),
  };
}

/** If the server itself writes the date, the difference to its time is smaller. */
const usualOffMs = 5000;

function toOlderVersion(error: ApiError): number {
  const { serverApiVersion } = error.details;
  if (serverApiVersion !== undefined && serverApiVersion >= oldestApiVersion && serverApiVersion < newestApiVersion) {
    return serverApiVersion;
  }
  const known = `${oldestApiVersion} to ${newestApiVersion}`;
  const newest = serverApiVersion === undefined ? '' : ` (its newest is ${serverApiVersion})`;
  const mend =
    serverApiVersion !== undefined && serverApiVersion > newestApiVersion
      ? '; set `api_version` to a version that it supports'
      : '';
  throw new ApiError(`${error.message}: the server supports none of ${known}${newest}${mend}`, {
    ...error.details,
    cause: error,
  });
}

/** The number of responses to remember. If one member sent all responses, there is only one member. */
const remembered = 20;

/**
 * Detects members that share an address: a member responds again after another member has responded. If the first does not
 * respond again, the second may have replaced it.
 */
function createMemberSight() {
  const seen: {
    readonly uuid: string;
    readonly mode?: ExecutionMode | undefined;
    readonly startedAtMs?: number | undefined;
    readonly uptimeMs: number;
  }[] = [];
  let hasSeveral = false;
  return {
    /** Call with a response, which may name its member. */
    note: ({
      server: { serverUUID: uuid = '' },
      executionMode: mode,
      stats,
      timestampMs = Number.NaN,
    }: SystemInfo): void => {
      if (uuid === '') return;
      const { since = Number.NaN } = stats.uptime;
      const uptimeMs = timestampMs - since;
      const before = seen.findLast((each) => each.uuid === uuid);
      // The server computes its start from its clock and its uptime. If the clock is set, the computed start moves, although the
      // server has not restarted.
      const isSame = before?.startedAtMs !== undefined && uptimeMs >= before.uptimeMs;
      const startedAtMs = isSame ? Math.min(since, before.startedAtMs) : stats.uptime.since;
      seen.push({ uuid, mode, startedAtMs, uptimeMs });
      if (seen.length > remembered) seen.shift();
      const changes = seen.filter((each, index) => each.uuid !== seen[index - 1]?.uuid).length;
      hasSeveral = changes > new Set(seen.map((each) => each.uuid)).size;
    },
    /** Reports whether several members respond at one address. */
    hasSeveral: (): boolean => hasSeveral,
    known: (): Pick<ServerFacts, 'mode' | 'memberStarts'> => {
      const last = new Map(seen.map((each) => [each.uuid, each]));
      const modes = new Set([...last.values()].map(({ mode }) => mode));
      const starts = [...last].flatMap(([uuid, { startedAtMs }]) =>
        startedAtMs === undefined ? [] : [[uuid, startedAtMs] as const],
      );
      return { mode: modes.size === 1 ? [...modes][0] : undefined, memberStarts: new Map(starts) };
    },
  };
}
