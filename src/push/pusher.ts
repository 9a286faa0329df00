import type { Cancel, Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Memories } from '../domain/memory.ts';
import { createPause, type Pause } from '../domain/pause.ts';
import { PostFault } from '../tracing/deliver/observer.ts';
import type { Post } from '../tracing/deliver/post.ts';
import { toVerdict } from '../tracing/deliver/verdict.ts';
import { encodeMetrics, type Pushed, type Times } from './encode-metrics.ts';
import { type Point, readFamilies } from './read-families.ts';
import { createSentSums, type SentSums } from './sent-sums.ts';
import type { PushSettings } from './settings.ts';

/** The results of pushes. */
export const pushResults = ['delivered', 'partial', 'refused', 'failed'] as const;
export type PushResult = (typeof pushResults)[number];

export type PusherOptions = {
  readonly settings: PushSettings;
  readonly version: string;
  /** Returns a scrape as protocol buffers. */
  readonly scrape: () => Promise<readonly Buffer[]>;
  readonly post: Post;
  /** Keeps for each server what the backend has, if only what was added is sent. */
  readonly memories: Memories;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly observe: (result: PushResult, rejectedPoints: number) => void;
};

export type Pusher = {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Pushes now; never rejects. */
  readonly push: () => Promise<void>;
};

/** Sends all metrics to an OTLP endpoint, as often as configured. What cannot be sent waits for nothing. */
export function createPusher(options: PusherOptions): Pusher {
  const { settings, scrape, post, clock, log, observe } = options;
  const startedMs = clock.now();
  const pause = createPause(clock);
  const sums = settings.isDelta ? createSentSums(options.memories, startedMs, pause) : undefined;
  const stopping = new AbortController();
  let cancel: Cancel | undefined;
  let underWay = Promise.resolve();
  let isFailing = false;

  function note({ result, reason, rejected }: Omit<Sending, 'isOver'>): void {
    observe(result, rejected);
    if (result === 'failed' || result === 'refused') {
      if (!isFailing) log.warn({ reason }, 'metrics push failing');
      isFailing = true;
      return;
    }
    if (isFailing) log.info({}, 'metrics push recovered');
    isFailing = false;
    if (result === 'partial') log.warn({ says: reason, rejected }, 'OTLP endpoint rejected points of metrics');
  }

  const send = (bytes: Uint8Array): Promise<Sending> => sendOnce(options, bytes, stopping.signal);

  async function pushAll(): Promise<void> {
    const nowMs = clock.now();
    const bytes = Buffer.concat(await scrape());
    const encode = (families: readonly Pushed[], times: Times) =>
      encodeMetrics(families, times, { ...settings, version: options.version });
    const outcome = createOutcome();
    if (sums === undefined) {
      // The rest would fail in the same way.
      for await (const families of toBatches(bytes, pause))
        if (outcome.add(await send(encode(families, { nowMs, sinceMs: undefined }))).result === 'failed') break;
    } else {
      const times = { nowMs, sinceMs: sums.sinceMs() ?? startedMs };
      const requests: Waiting[] = [];
      let left: readonly Waiting[] = requests;
      try {
        for await (const families of toBatches(bytes, pause, sums))
          requests.push({ bytes: encode(families, times), undo: sums.endBatch() });
        // As sent, before they are: after a crash, nothing is sent twice.
        await sums.store(nowMs);
        left = await sendAll(requests, async (request) => outcome.add(await send(request)));
      } finally {
        sums.endBatch()();
        for (const { undo } of left) undo();
      }
      if (left.length > 0) await sums.store(times.sinceMs);
    }
    note(outcome.worst());
  }

  async function push(): Promise<void> {
    underWay = underWay.then(pushAll).catch((error: unknown) => {
      note({ result: 'failed', reason: error instanceof Error ? error.message : String(error), rejected: 0 });
    });
    await underWay;
  }

  function schedule(): void {
    cancel = clock.after(settings.everyMs, () => {
      void push().then(() => {
        if (!stopping.signal.aborted) schedule();
      });
    });
  }

  return {
    push,
    start: schedule,
    stop: async () => {
      cancel?.();
      stopping.abort();
      await underWay;
      post.close();
    },
  };
}

type Waiting = { readonly bytes: Uint8Array; readonly undo: () => void };

/** Sends requests until one fails; returns those that were certainly not accepted. */
async function sendAll(requests: readonly Waiting[], send: (bytes: Uint8Array) => Promise<Sending>) {
  for (const [at, { bytes }] of requests.entries()) {
    const { result, isOver } = await send(bytes);
    if (result === 'failed') return requests.slice(isOver ? at + 1 : at);
  }
  return [];
}

async function sendOnce(
  { settings, post, clock }: Pick<PusherOptions, 'settings' | 'post' | 'clock'>,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Sending> {
  const encoding = settings.protocol === 'http/json' ? 'json' : 'protobuf';
  try {
    const verdict = toVerdict(await post.send({ encoding, bytes }, signal), clock.now());
    if (verdict.kind === 'delivered') {
      const { rejectedSpans: rejected, message: reason } = verdict;
      return { result: rejected > 0 ? 'partial' : 'delivered', reason, rejected, isOver: true };
    }
    const isOver = verdict.kind === 'refused';
    return { result: isOver ? 'refused' : 'failed', reason: verdict.reason, rejected: 0, isOver };
  } catch (error) {
    if (!(error instanceof PostFault)) throw error;
    const isOver = error.isLost || error.kind === 'stopped';
    return { result: 'failed', reason: error.message, rejected: 0, isOver };
  }
}

function createOutcome() {
  let worst: Sending = { result: 'delivered', reason: '', rejected: 0, isOver: true };
  return {
    worst: () => worst,
    add: (sending: Sending): Sending => {
      const rejected = worst.rejected + sending.rejected;
      const isWorse = pushResults.indexOf(sending.result) > pushResults.indexOf(worst.result);
      worst = { ...(isWorse ? sending : worst), rejected };
      return sending;
    },
  };
}

/** How a request ended, and whether its points are sent for good: what may have arrived is not sent again. */
type Sending = {
  readonly result: PushResult;
  readonly reason: string;
  readonly rejected: number;
  readonly isOver: boolean;
};

/** Reads a scrape into requests, without blocking the event loop for long. */
async function* toBatches(bytes: Buffer, pause: Pause, sums?: SentSums): AsyncGenerator<readonly Pushed[]> {
  let batch: { readonly family: Pushed['family']; readonly points: Point[] }[] = [];
  let count = 0;
  let read = 0;
  for (const family of readFamilies(bytes)) {
    let points: Point[] | undefined;
    for (const scraped of family.points) {
      read += 1;
      if (read % pointsPerPiece === 0) await pause();
      const isSum = family.isCounter || scraped.histogram !== undefined;
      const point = sums === undefined || !isSum ? scraped : await sums.take(family, scraped);
      if (point === undefined) continue;
      if (points === undefined) {
        points = [];
        batch.push({ family, points });
      }
      points.push(point);
      count += 1;
      if (count < maxPoints) continue;
      yield batch;
      [batch, points, count] = [[], undefined, 0];
    }
  }
  if (count > 0) yield batch;
}

/** Encoding them takes a few milliseconds. */
const maxPoints = 1000;
const pointsPerPiece = 100;
