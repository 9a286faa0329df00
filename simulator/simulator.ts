import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { createApp } from './app.ts';
import { type Clock, createClock } from './clock.ts';
import { createControl } from './control.ts';
import { advance } from './engine/engine.ts';
import { createFaults } from './faults.ts';
import { type DialectName, dialects, findRelease } from './release.ts';
import { createRequestLog, type SimulatorRequest } from './routes/exchange.ts';
import { createSessions } from './routes/sessions.ts';
import { findScenario } from './scenarios/scenario.ts';
import { createTraceSink, type ExecutionPage } from './traces/trace-sink.ts';
import { tellTruth } from './truth.ts';
import { everythingPolicy } from './world/access.ts';
import type { Member } from './world/installation.ts';
import { createWorld } from './world/world.ts';

export type { Control } from './control.ts';
export type { SimulatorRequest } from './routes/exchange.ts';
export type { TrueExecution, Truth } from './truth.ts';

export type SimulatorOptions = {
  readonly host?: string;
  /** The port; 0 selects any free port. */
  readonly port?: number;
  readonly dialect?: DialectName;
  /** The newest API version of the server: 14 to 47, or 58. The version selects the release. */
  readonly apiVersion?: number;
  /** The name of a release, if several releases have the API version. */
  readonly release?: string;
  readonly token?: string;
  readonly scenario?: string;
  readonly seed?: number;
  /** A higher speed gives more runs in the same time. */
  readonly speed?: number;
  readonly now?: () => number;
  /** The clock; a `free` clock moves only by `advance`. */
  readonly clock?: 'real' | 'free';
  /**
   * True for responses that are always the same: a free clock, one public address, constant timers, and one member that
   * responds.
   */
  readonly frozen?: boolean;
  /** The number of cluster members. With `memberAddresses`, each member also has its own address. */
  readonly members?: number;
  readonly memberAddresses?: boolean;
  readonly threadPoolSize?: number;
  /** The number of finished executions to keep; `Infinity` keeps all. */
  readonly retained?: number;
  /** The length of the past at the start, instead of the scenario's. */
  readonly historyMs?: number;
  /** Called before each request is answered, so that tests can make changes between two pages of a list. */
  readonly onRequest?: (request: SimulatorRequest) => void;
  readonly executionPage?: ExecutionPage;
};

export type Simulator = Readonly<Awaited<ReturnType<typeof startSimulator>>>;

export type Service = ReturnType<typeof createService>;

export async function startSimulator(options: SimulatorOptions = {}) {
  const { host = '127.0.0.1', seed = 1, frozen = false } = options;
  const clock = createClock(options.now, options.clock ?? (frozen ? 'free' : 'real'));
  const { world, faults, control, token, play } = createService(options, clock);
  const sessions = createSessions(seed);
  const log = createRequestLog(20_000, options.onRequest);

  const traceSink = createTraceSink(options.executionPage);
  const parts = { world, faults, sessions, log, control, traceSink };
  const servers = [
    await listen(createApp({ ...parts, nextMember: balance(world.members, frozen) }), host, options.port ?? 0),
  ];
  for (const member of options.memberAddresses === true ? world.members : []) {
    servers.push(await listen(createApp({ ...parts, nextMember: () => member }), host, 0));
  }
  const [url = '', ...memberUrls] = servers.map((server) => toUrl(server, host));
  return {
    url,
    token,
    memberUrls,
    requests: () => log.all(),
    /** Returns the true course of all executions, whatever the API shows. */
    truth: () => {
      play();
      return tellTruth(world);
    },
    control,
    advance: (ms: number): void => {
      clock.advance(ms);
      play();
    },
    stop: async (): Promise<void> => {
      faults.stop();
      await Promise.all(servers.map(close));
    },
  };
}

function releaseByDefault({ apiVersion, dialect }: SimulatorOptions): string | undefined {
  const named = process.env['SIMULATED_RELEASE'];
  return apiVersion === undefined && dialect !== 'service' && named !== '' ? named : undefined;
}

/** Creates a simulated server with a scenario and a clock. The server does not listen yet. */
export function createService(options: SimulatorOptions, clock: Clock) {
  const { token = demoToken, seed = 1, frozen = false } = options;
  const scenario = findScenario(options.scenario ?? 'quiet-day');
  const liveMs = clock.now();
  const dialect = dialects[options.dialect ?? 'rundeck'];
  const release = findRelease(dialect.name, options.apiVersion ?? 47, options.release ?? releaseByDefault(options));
  const { speed = 1, retained = 5000, members = scenario.members, historyMs = scenario.historyMs } = options;
  const threadPoolSize = options.threadPoolSize ?? scenario.threadPoolSize ?? 10;
  const size = { members, threadPoolSize, birthMs: liveMs - historyMs };
  const world = createWorld({ clock, dialect, release, seed, speed, retained }, size);
  if (frozen) Object.assign(world.settings, { countRequests: false, publicUrl: 'https://automation.example.org' });
  const play = () => advance(world, clock.now());
  const faults = createFaults();
  const control = createControl(world, faults, play);
  control.addToken({ token, user: 'exporter', name: 'demo', policy: everythingPolicy });
  scenario.build(world, liveMs);
  return { world, faults, control, token, play };
}

const demoToken = 'demo-token-that-opens-nothing-real';

/** Returns the member for each request; in a frozen cluster always the first running member. */
function balance(members: readonly Member[], frozen: boolean): () => Member {
  let turn = 0;
  return () => {
    const alive = members.filter((member) => member.alive);
    const member = alive[turn % Math.max(1, alive.length)] ?? members[0];
    turn += frozen ? 0 : 1;
    if (member === undefined) throw new Error('An installation needs at least one member.');
    return member;
  };
}

function listen(app: Express, host: string, port: number): Promise<Server> {
  const server = createServer(app);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function toUrl(server: Server, host: string): string {
  // This cast is safe: a listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
