import { toShareOfServer } from '../api/answers/large-answers.ts';
import type { ServerFacts } from '../api/contact.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { Changes } from '../diagnosis/changes/changes.ts';
import type { Log } from '../domain/log.ts';
import { type Listener, listenTo } from '../expected-runs/listen.ts';
import type { SourceNotes } from '../expected-runs/sources.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import { createVitality, type Seen, type Vitality } from '../schedule/vitality.ts';
import type { State } from '../state/state.ts';
import type { createServerSigns } from '../status/troubles/server-signs.ts';
import {
  type Connection,
  type ConnectionMemory,
  type ConnectOptions,
  connectServer,
  createConnectionMemory,
} from './connect.ts';
import { toClientObserver } from './instruments.ts';
import type { SelfTracing } from './self-tracing.ts';
import type { Traces } from './trace-pipeline.ts';

export type WatchOptions = Omit<ConnectOptions, 'observe' | 'memory' | 'selfTracing'> & {
  readonly config: Config;
  readonly log: Log;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
  readonly traces?: Traces | undefined;
  readonly selfTracing?: SelfTracing | undefined;
  /** Returns the state that an address had before a reload, even if it belonged to another server. */
  readonly memoryOf?: ((address: Omit<Address, 'memory'>) => ConnectionMemory) | undefined;
};

/** An address and the route to it. Errors of one route do not affect another. */
export type Address = { readonly url: string; readonly way: unknown; readonly memory: ConnectionMemory };

export type Target = {
  readonly member: string | undefined;
  readonly connection: Connection;
  readonly vitality: Vitality;
  readonly address: Address;
};

export type Targets = ReturnType<typeof connectTargets>;

export function connectTargets(server: ServerConfig, given: TargetOptions) {
  const options = { ...given, largeAnswers: given.largeAnswers && toShareOfServer(given.largeAnswers) };
  const common = connectTarget(server, { member: undefined, url: server.url }, options);
  const members = server.members.map(({ name, url }) => connectTarget(server, { member: name, url }, options));
  const all = [common, ...members];
  return {
    /** The address of the server, behind which any member may respond. */
    common,
    members,
    all,
    find: (member?: string) => all.find((target) => target.member === member),
  };
}

type Listeners = {
  readonly sourceNotes: SourceNotes;
  readonly signs: ReturnType<typeof createServerSigns>;
  readonly receive: Changes['receive'];
};

export function joinListeners({ sourceNotes, signs, receive }: Listeners) {
  return (member: string | undefined, isShared: () => boolean): Listener => {
    const listener = sourceNotes.listener(member, isShared);
    return {
      ...listener,
      answered: (endpoint, path, answer, tookMs) => {
        listener.answered(endpoint, path, answer, tookMs);
        signs.note(member, endpoint, answer);
        receive({ member, endpoint, path, answer }, tookMs);
      },
    };
  };
}

type TargetOptions = WatchOptions & {
  /** Returns the listener for all responses of an address. */
  readonly listener: (member: string | undefined, isShared: () => boolean) => Listener;
};

type Asked = { readonly member: string | undefined; readonly url: string };

function connectTarget(server: ServerConfig, { member, url }: Asked, options: TargetOptions): Target {
  const { self, log, clock, memoryOf } = options;
  const key = toKey(server, member);
  const { tls, tlsTexts, proxyUrl } = server;
  const way = { url, way: { tls, tlsTexts, proxyUrl } };
  const address = { ...way, memory: memoryOf?.(way) ?? createConnectionMemory() };
  const plain = connectServer(
    { ...server, url },
    { ...options, observe: toClientObserver(self, key, log), memory: address.memory },
  );
  const isShared = () => member === undefined && (server.members.length > 0 || plain.client.facts().hidesMembers);
  const connection = { ...plain, client: listenTo(plain.client, options.listener(member, isShared)) };
  const facts = connection.client.facts;
  const vitality = createVitality(self, key, clock, (now, before) =>
    logState(log, key, { now, before, facts: facts() }),
  );
  return { member, connection, vitality, address };
}

type Change = { readonly now: Seen; readonly before: Seen | undefined; readonly facts: ServerFacts };

/** Logs each change of the state of a server once, and its facts at the first contact. */
function logState(log: Log, key: ReturnType<typeof toKey>, { now, before, facts }: Change): void {
  const { state, sinceMs, message } = now;
  if (state === 'down') log.warn({ ...key, error: message }, 'server is down');
  else if (state === 'refused') log.warn({ ...key, error: message }, 'server rejects the credentials');
  else {
    const { release, apiVersion, dialect } = facts;
    const after = before === undefined ? {} : { afterSeconds: Math.round((sinceMs - before.sinceMs) / 1000) };
    log.info({ ...key, release, apiVersion, dialect, ...after }, 'server is up');
  }
}

/** Returns the labels of the exporter's own series about a server or one of its members. */
export function toKey({ name }: Pick<ServerConfig, 'name'>, member: string | undefined) {
  return member === undefined ? { server: name } : { server: name, member };
}

/** Reports whether several members respond at the one address of a server; the answer is logged once. */
export function createHidesMembers(
  server: ServerConfig,
  { common }: Pick<Targets, 'common'>,
  { log }: Pick<WatchOptions, 'log'>,
): () => boolean {
  let isLogged = false;
  return () => {
    const hidden = server.members.length === 0 && common.connection.client.facts().hidesMembers;
    if (hidden && !isLogged) {
      isLogged = true;
      log.warn(
        { server: server.name },
        'several members answer at this address, so their counters are withheld: list them under `members`',
      );
    }
    return hidden;
  };
}
