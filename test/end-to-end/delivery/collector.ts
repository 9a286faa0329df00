import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';
import { type Answer, accept, type Sink, say, startSink } from '../../tracing/deliver/sink.ts';
import type { Moment } from './daemon.ts';
import { collectorName } from './names.ts';
import { type ReadTrace, readTraces } from './otlp-reader.ts';
import type { Sightings } from './sightings.ts';

/** Temporary problems of a collector. */
export type Trouble = keyof typeof answers | 'down' | 'nameless' | 'untrusted';

export type Arrival = Omit<ReadTrace, 'bytes'> & {
  /** The hashes of the trace, one if all copies are equal. */
  readonly hashes: Set<string>;
  /** Whether the collector accepted the trace. */
  isTaken: boolean;
};

export type Collector = Awaited<ReturnType<typeof startCollector>>;

type CollectorOptions = {
  readonly sightings: Sightings;
  /** The file with the address of the collector, for resolvers of its name. */
  readonly addressFile: string;
  /** Whether the collector always rejects the trace of an execution. */
  readonly isPoisoned: (runId: string) => boolean;
  /** A correct and a wrong certificate; absent without TLS. */
  readonly tls?: Readonly<Record<'right' | 'wrong', { readonly cert: string; readonly key: string }>> | undefined;
};

/** Starts a collector that can have every problem and keeps every trace. */
export async function startCollector(options: CollectorOptions) {
  const { sightings, addressFile, isPoisoned, tls } = options;
  const arrivals = new Map<string, Arrival>();
  let trouble: Trouble | undefined;
  let listener: (moment: Moment) => void = () => {};
  let port = 0;

  const serve: Answer = (response, request, index) => {
    const traces = readTraces(request.body);
    const behaviour = toBehaviour(trouble);
    const isRefused = behaviour.isTaken && traces.some(({ runId }) => isPoisoned(runId));
    const { sight, answer, isTaken } = isRefused ? poisoned : behaviour;
    sightings.see(sight);
    for (const trace of traces) note(trace, isTaken);
    listener('arrived');
    answer(response, request, index);
    listener('answered');
  };

  function note({ bytes, ...trace }: ReadTrace, isTaken: boolean): void {
    const known = arrivals.get(trace.traceId);
    const arrival = known ?? { ...trace, hashes: new Set(), isTaken: false };
    if (known?.isTaken === true) sightings.see('traces that came again');
    arrival.hashes.add(createHash('sha256').update(bytes).digest('hex'));
    arrival.isTaken ||= isTaken;
    arrivals.set(trace.traceId, arrival);
  }

  /** Retries, because another program may use the port for a moment. */
  async function open(certificate: 'right' | 'wrong'): Promise<Sink> {
    const given = tls === undefined ? {} : { tls: tls[certificate] };
    const opened = await eventually(() => startSink(serve, { ...given, port }));
    port = opened.port;
    return opened;
  }

  let sink = await open('right');
  writeFileSync(addressFile, '127.0.0.1');
  return {
    endpoint: `${tls === undefined ? 'http' : 'https'}://${collectorName}:${port}/v1/traces`,
    /** The arrived traces, by trace id. */
    arrivals,
    begin: async (next: Trouble) => {
      trouble = next;
      if (next !== 'down' && next !== 'nameless' && next !== 'untrusted') return;
      // Open connections stay usable without the name, so the name is removed first, and all connections are closed.
      if (next === 'nameless') rmSync(addressFile);
      await sink.stop();
      if (next !== 'down') sink = await open(next === 'untrusted' ? 'wrong' : 'right');
    },
    /** Ends the trouble. */
    end: async () => {
      const wasAway = trouble === 'down' || trouble === 'nameless' || trouble === 'untrusted';
      trouble = undefined;
      if (!wasAway) return;
      await sink.stop();
      sink = await open('right');
      writeFileSync(addressFile, '127.0.0.1');
    },
    /** Called when a request has arrived, and after its response is sent. */
    onRequest: (next: (moment: Moment) => void) => {
      listener = next;
    },
    stop: () => sink.stop(),
  };
}

type Behaviour = { readonly sight: string; readonly answer: Answer; readonly isTaken: boolean };

const accepting: Behaviour = { sight: 'requests that were accepted', answer: accept, isTaken: true };
const poisoned: Behaviour = {
  sight: 'requests refused for a poisoned trace',
  answer: say(400, 'bad span'),
  isTaken: false,
};

/** Problems of responses; the other problems prevent a connection. */
const answers = {
  hanging: { sight: 'requests that hung', answer: () => {}, isTaken: false },
  overloaded: {
    sight: 'answers of 503 with Retry-After',
    // The Retry-After is longer than the sender's own waits.
    answer: say(503, 'full', { 'retry-after': '90' }),
    isTaken: false,
  },
  partial: {
    sight: 'partial successes',
    // The response is a partial success: one span was rejected.
    answer: say(200, Buffer.from('0a020801', 'hex'), { 'content-type': 'application/x-protobuf' }),
    isTaken: true,
  },
  forgetful: {
    sight: 'answers lost after acceptance',
    answer: (response) => void response.socket?.destroy(),
    isTaken: true,
  },
} as const satisfies Readonly<Record<string, Behaviour>>;

function toBehaviour(trouble: Trouble | undefined): Behaviour {
  return Object.entries(answers).find(([name]) => name === trouble)?.[1] ?? accepting;
}
