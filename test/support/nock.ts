import nock from 'nock';

type PlainAnswer = {
  readonly status: number;
  readonly body: string | Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of requests; 1 by default. */
  readonly times?: number;
};

export type Upstream = ReturnType<typeof interceptUpstream>;

/** Replaces the network for tests that need no socket. */
export function interceptUpstream(url = 'http://upstream.test') {
  const unmatched: string[] = [];
  const note = ({ url: asked }: Request): void => {
    unmatched.push(asked);
  };
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  nock.emitter.on('no match', note);
  return {
    url,
    /** Answers GET requests of the path with this header. */
    answers: (
      path: string,
      [name, value]: readonly [name: string, value: string],
      { status, body, headers = {}, times = 1 }: PlainAnswer,
    ) => {
      nock(url).get(path).matchHeader(name, value).times(times).reply(status, body, headers);
    },
    /** Restores the network; throws if an answer was not used, or a request had no answer. */
    done: () => {
      const pending = nock.pendingMocks();
      nock.emitter.off('no match', note);
      nock.cleanAll();
      nock.restore();
      nock.enableNetConnect();
      if (pending.length > 0 || unmatched.length > 0) {
        throw new Error(`not asked: ${pending.join(', ')}; asked without an answer: ${unmatched.join(', ')}`);
      }
    },
  };
}
