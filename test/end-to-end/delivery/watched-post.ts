import { PostFault } from '../../../src/tracing/deliver/observer.ts';
import type { Post } from '../../../src/tracing/deliver/post.ts';

type Watching = {
  readonly answered?: (() => void) | undefined;
  readonly tell: (says: 'undelivered' | 'wrong', what: string) => void;
};

type WatchedPost = {
  readonly of: (post: Post) => Post;
  /** Called with every wait of the sender. */
  readonly noteWait: (forMs: number) => void;
};

/** Reports each request without a response, and each request that was sent before the collector's Retry-After. */
export function watchPost({ answered, tell }: Watching): WatchedPost {
  /** The Retry-After of the collector. */
  let askedMs: number | undefined;
  return {
    of: (post) => ({
      ...post,
      send: async (content, signal) => {
        if (askedMs !== undefined) tell('wrong', `sent again before the ${askedMs} ms were over`);
        try {
          const answer = await post.send(content, signal);
          askedMs = answer.retryAfter === undefined ? undefined : 1000 * Number(answer.retryAfter);
          answered?.();
          return answer;
        } catch (error) {
          if (error instanceof PostFault) tell('undelivered', error.message);
          throw error;
        }
      },
    }),
    noteWait: (forMs) => {
      // Longer than every other wait.
      if (askedMs !== undefined && forMs >= askedMs) askedMs = undefined;
    },
  };
}
