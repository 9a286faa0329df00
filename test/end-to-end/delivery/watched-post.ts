import { PostFault } from '../../../src/tracing/deliver/observer.ts';
import type { Post } from '../../../src/tracing/deliver/post.ts';

type Watching = {
  readonly answered?: (() => void) | undefined;
  readonly tell: (says: 'undelivered' | 'wrong', what: string) => void;
};

export type WatchedPost = {
  readonly of: (post: Post) => Post;
  /** Called with every wait of whoever sends. */
  readonly noteWait: (forMs: number) => void;
};

/** Reports every request without an answer, and of one that came sooner than the collector had asked for. */
export function watchPost({ answered, tell }: Watching): WatchedPost {
  /** How long the collector asked to be left alone. */
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
      // Longer than anything else is waited for.
      if (askedMs !== undefined && forMs >= askedMs) askedMs = undefined;
    },
  };
}
