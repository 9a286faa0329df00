import type { Cancel, Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Memories } from '../domain/memory.ts';
import { createPause, type Pause } from '../domain/pause.ts';
import { PostFault } from '../tracing/deliver/observer.ts';
import type { Post } from '../tracing/deliver/post.ts';
import type { PushSettings } from '../tracing/deliver/push-settings.ts';
import { toVerdict } from '../tracing/deliver/verdict.ts';
import { encodeMetrics, type Pushed } from './encode-metrics.ts';
import { type Point, readFamilies, type ScrapedFamily } from './read-families.ts';
import { createSentSums } from './sent-sums.ts';

export const pushResults = ['delivered', 'partial', 'refused', 'failed'] as const;
export type PushResult = (typeof pushResults)[number];

/** The reasons why points are lost. With delta, points are lost with their request; otherwise the points are sent again. */
export const lostReasons = ['partial_success', 'refused', 'unanswered'] as const;
export type LostReason = (typeof lostReasons)[number];

export type PusherOptions = {
  readonly settings: PushSettings;
  readonly version: string;
  /** Returns a scrape as protocol buffers. */
  readonly scrape: () => Promise<readonly Buffer[]>;
  readonly post: Post;
  /** Stores the state that was sent last, for each server. Used only for delta. */
  readonly memories: Memories;
  /** Returns the names of the labels that the configuration adds to series. Used only for delta. */
  readonly labelNames: () => Iterable<string>;
  /** Returns the labels that the configuration drops from series, as text. Used only for delta. */
  readonly droppedLabels: () => string;
  /** Returns the epoch in which a server is owned; absent without replicas. In another epoch, another replica may have pushed. */
  readonly epochOf?: ((server: string) => number | undefined) | undefined;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly observe: (result: PushResult) => void;
  readonly lost: (reason: LostReason, points: number) => void;
};

export type Pusher = {
  readonly start: () => void;
  /** Waits for the request in progress, up to a limit. */
  readonly stop: () => Promise<void>;
  /** Pushes now. Never rejects. */
  readonly push: () => Promise<void>;
};

/** Sends all metrics to an OTLP endpoint at the configured interval. Points that cannot be sent are not queued. */
export function createPusher(options: PusherOptions): Pusher {
  const { settings, post, clock } = options;
  const scrape = createScrape(options);
  const note = createNotes(options);
  const pause = createPause(clock);
  const sums = settings.isDelta ? createSentSums(options, clock.now(), pause) : undefined;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  let cancel: Cancel | undefined;
  let underWay = Promise.resolve();
  /** The pause that the endpoint requested. */
  let askedMs = 0;

  async function send({ bytes, points }: Pick<Waiting, 'bytes' | 'points'>): Promise<Sending> {
    const sending = await sendOnce(options, bytes, cutOff.signal);
    askedMs = Math.max(askedMs, sending.askedMs);
    const { rejected, isOver, result } = sending;
    if (rejected > 0) options.lost('partial_success', rejected);
    else if (isOver && result === 'refused') options.lost('refused', points);
    else if (isOver && result === 'failed') options.lost('unanswered', points);
    return sending;
  }

  async function pushAll(): Promise<void> {
    const nowMs = clock.now();
    const families = await scrape();
    const outcome = createOutcome();
    askedMs = 0;
    if (sums === undefined) {
      // No more requests are sent after an error, because they would fail in the same way.
      for await (const batch of toBatches(families, pause))
        if (stopping.signal.aborted || outcome.add(await send(encode(batch, nowMs, options))).result === 'failed')
          break;
    } else {
      const requests: Waiting[] = [];
      let left: readonly Waiting[] = requests;
      try {
        for await (const batch of toBatches(families, pause, (family, point) => sums.take(family, point, nowMs)))
          requests.push({ ...encode(batch, nowMs, options), undo: sums.endBatch() });
        // Sums are stored before sending, so that nothing is sent twice after a crash.
        await sums.store(nowMs);
        left = await sendAll(requests, async (request) => outcome.add(await send(request)), stopping.signal);
      } finally {
        sums.endBatch()();
        for (const { undo } of left) undo();
        if (left.length > 0) await sums.store(nowMs);
      }
    }
    note(outcome.worst());
  }

  async function push(): Promise<void> {
    underWay = underWay.then(pushAll).catch((error: unknown) => {
      note({ result: 'failed', reason: error instanceof Error ? error.message : String(error), rejected: 0 });
    });
    await underWay;
    // The idle connection is closed, because a gateway might close it during the next push.
    post.close();
  }

  function schedule(): void {
    cancel = clock.after(Math.max(settings.everyMs, askedMs), () => {
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
      const cancelCut = clock.after(stopLimitMs, () => cutOff.abort());
      await underWay;
      cancelCut();
    },
  };
}

function createScrape({ scrape, labelNames }: Pick<PusherOptions, 'scrape' | 'labelNames'>) {
  /** The names include names of earlier configurations, because a series keeps its labels until its next poll. */
  const configured = new Set<string>();
  return async (): Promise<Iterable<ScrapedFamily>> => {
    const bytes = Buffer.concat(await scrape());
    for (const name of labelNames()) configured.add(name);
    return readFamilies(bytes, configured);
  };
}

/** Reports how pushes end. Logs only differences from the previous push. */
function createNotes({ log, observe }: Pick<PusherOptions, 'log' | 'observe'>) {
  let isFailing = false;
  return ({ result, reason, rejected }: Pick<Sending, 'result' | 'reason' | 'rejected'>): void => {
    observe(result);
    if (result === 'failed' || result === 'refused') {
      if (!isFailing) log.warn({ reason }, 'metrics push failing');
      isFailing = true;
      return;
    }
    if (isFailing) log.info({}, 'metrics push recovered');
    isFailing = false;
    if (result === 'partial') log.warn({ says: reason, rejected }, 'OTLP endpoint rejected points of metrics');
  };
}

type Waiting = ReturnType<typeof encode> & { readonly undo: () => void };

/** Sends requests until one fails. Returns the requests that were certainly not accepted. */
async function sendAll(requests: readonly Waiting[], send: (request: Waiting) => Promise<Sending>, stop: AbortSignal) {
  const left: Waiting[] = [];
  for (const [at, request] of requests.entries()) {
    if (stop.aborted) return [...left, ...requests.slice(at)];
    const { result, isOver } = await send(request);
    if (!isOver) left.push(request);
    if (result === 'failed') return [...left, ...requests.slice(at + 1)];
  }
  return left;
}

/** Encodes a request, and counts its points for delta. */
function encode(families: readonly Pushed[], nowMs: number, { settings, version }: PusherOptions) {
  let added = 0;
  for (const { points } of families) for (const { sinceMs } of points) if (sinceMs !== undefined) added += 1;
  return { bytes: encodeMetrics(families, nowMs, { ...settings, version }), points: added };
}

async function sendOnce(
  { settings, post, clock }: Pick<PusherOptions, 'settings' | 'post' | 'clock'>,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Sending> {
  const encoding = settings.protocol === 'http/json' ? 'json' : 'protobuf';
  try {
    const answer = await post.send({ encoding, bytes }, signal);
    const verdict = toVerdict(answer, clock.now());
    if (verdict.kind === 'delivered') {
      const { rejectedSpans: rejected, message: reason } = verdict;
      return { ...none, result: rejected > 0 ? 'partial' : 'delivered', reason, rejected, isOver: true };
    }
    if (verdict.kind === 'wait') {
      const { reason, askedMs = 0 } = verdict;
      // HTTP 504 means that a gateway gave up waiting. The endpoint may have accepted the points.
      return { ...none, result: 'failed', reason, askedMs, isOver: answer.status === 504 };
    }
    // With other statuses than 400 and 5xx, no metric was accepted.
    const isOver = verdict.status === 400 || verdict.status >= 500;
    return { ...none, result: 'refused', reason: verdict.reason, isOver };
  } catch (error) {
    if (!(error instanceof PostFault)) throw error;
    return { ...none, result: 'failed', reason: error.message, isOver: error.isLost };
  }
}

function createOutcome() {
  let worst: Sending = { ...none, result: 'delivered', reason: '' };
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

/** How a request ended, and whether its points count as sent. Points that may have arrived are not sent again. */
type Sending = {
  readonly result: PushResult;
  readonly reason: string;
  readonly rejected: number;
  readonly isOver: boolean;
  readonly askedMs: number;
};

const none = { rejected: 0, isOver: false, askedMs: 0 };

/** Splits a scrape into requests, without blocking the event loop for long. */
async function* toBatches(
  families: Iterable<ScrapedFamily>,
  pause: Pause,
  take?: Take,
): AsyncGenerator<readonly Pushed[]> {
  let batch: { readonly family: Pushed['family']; readonly points: Point[] }[] = [];
  let count = 0;
  let read = 0;
  for (const family of families) {
    let points: Point[] | undefined;
    for (const scraped of family.points) {
      read += 1;
      if (read % pointsPerPiece === 0) await pause();
      const isSum = family.isCounter || scraped.histogram !== undefined;
      const point = take === undefined || !isSum ? scraped : await take(family, scraped);
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

type Take = (family: ScrapedFamily, point: Point) => Promise<Point | undefined>;

/** Encoding 500 points takes a few milliseconds. The body is smaller than a mebibyte, which proxies usually accept. */
const maxPoints = 500;
const pointsPerPiece = 100;
const stopLimitMs = 2000;
