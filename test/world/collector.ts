import type { Content } from '../../src/tracing/deliver/batch.ts';
import { PostFault } from '../../src/tracing/deliver/observer.ts';
import type { Post, PostAnswer } from '../../src/tracing/deliver/post.ts';
import type { Dice } from './dice.ts';
import { type ReadTrace, readJsonTraces } from './read-traces.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How the trace backend responds now. */
type Mood = {
  way: 'takes' | 'refused' | 'silent' | 'busy' | 'takes and loses the answer' | 'resets large bodies';
  minMs: number;
};

type Arrival = { readonly trace: ReadTrace; readonly atMs: number; copies: number; readonly forms: Set<string> };

export type Collector = {
  readonly post: Post;
  readonly mood: Mood;
  readonly arrivals: ReadonlyMap<string, Arrival>;
  readonly poison: (runId: string) => void;
  readonly poisoned: ReadonlySet<string>;
};

type CollectorOptions = {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly timeoutMs: number;
  /** Returns a function that schedules work of the current sender, as long as the process of the sender runs. */
  readonly toWake?: () => (work: () => void) => void;
};

/** A trace backend as a function. */
export function createCollector({
  time,
  dice,
  timeoutMs,
  toWake = () => (work) => work(),
}: CollectorOptions): Collector {
  const mood: Mood = { way: 'takes', minMs: 5 };
  const arrivals = new Map<string, Arrival>();
  const poisoned = new Set<string>();

  function take(content: Content): PostAnswer {
    const traces = readJsonTraces(content.bytes);
    if (traces.some(({ runId }) => poisoned.has(runId))) return toAnswer(400, 'a trace in it is refused');
    for (const trace of traces) {
      const known = arrivals.get(trace.traceId);
      if (known === undefined) {
        arrivals.set(trace.traceId, { trace, atMs: time.nowMs(), copies: 1, forms: new Set([trace.text]) });
      } else {
        known.copies += 1;
        known.forms.add(trace.text);
      }
    }
    return toAnswer(200, '{}');
  }

  function exchange(content: Content): PostAnswer | 'refused' | 'reset' | 'never' {
    switch (mood.way) {
      case 'takes':
        return take(content);
      case 'takes and loses the answer':
        take(content);
        return 'reset';
      case 'busy':
        return { ...toAnswer(503, 'busy'), retryAfter: '7' };
      case 'resets large bodies':
        return content.bytes.length > 20_000 ? 'reset' : take(content);
      case 'refused':
        return 'refused';
      case 'silent':
        return 'never';
    }
  }

  return {
    mood,
    arrivals,
    poisoned,
    poison: (runId) => poisoned.add(runId),
    post: {
      send: (content, signal) =>
        new Promise((resolve, reject) => {
          const wake = toWake();
          const stop = (): void => reject(new PostFault('collector: stopped', { kind: 'stopped' }));
          signal.addEventListener('abort', stop);
          time.after(timeoutMs, () => wake(() => reject(new PostFault('collector: no answer', { kind: 'timeout' }))));
          time.after(mood.minMs * (1 + dice.next()) * 0.5, () => {
            const answer = exchange(content);
            if (answer === 'never') return;
            time.after(mood.minMs * dice.next(), () =>
              wake(() => {
                signal.removeEventListener('abort', stop);
                // A connection that is reset may have delivered the request; a refused connection has not.
                const isLost = answer === 'reset';
                if (typeof answer === 'object') resolve(answer);
                else reject(new PostFault(`collector: ${answer}`, { kind: 'network', isLost }));
              }),
            );
          });
        }),
      close: () => undefined,
    },
  };
}

function toAnswer(status: number, text: string): PostAnswer {
  return { status, contentType: 'application/json', retryAfter: undefined, bytes: Buffer.from(text), isCut: false };
}
