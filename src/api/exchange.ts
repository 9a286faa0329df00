import type { Clock } from '../domain/clock.ts';

/** What the exchange needs of a dispatcher; any that calls such a handler will do. */
export type Dispatch<Request> = (request: Request, handler: Handler) => unknown;

export type Received = {
  readonly status: number;
  readonly headers: ReceivedHeaders;
  readonly bytes: Buffer;
};

export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type Limits = {
  /** From the request's first byte, or its wait for a connection, to the answer's last byte. */
  readonly limitMs: number;
  readonly maxWireBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'after'>;
};

/**
 * One request and its whole answer. The handler is told of every chunk: a stream, a combined signal and their listeners
 * would cost half as much again as the request itself.
 */
export function exchange<Request>(
  dispatch: Dispatch<Request>,
  request: Request,
  { limitMs, maxWireBytes, signal, clock }: Limits,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: ReceivedHeaders = {};
    let controller: Controller | undefined;
    let ended: Error | true | undefined;

    /** Undefined the first time alone: what a dispatcher tells after the end is of no interest. */
    function end(how: Error | true): boolean {
      if (ended !== undefined) return false;
      ended = how;
      cancelLimit();
      signal?.removeEventListener('abort', stop);
      return true;
    }
    function fail(error: Error): void {
      if (!end(error)) return;
      controller?.abort(error);
      reject(error);
    }
    function stop(): void {
      fail(new ExchangeStopped());
    }
    const cancelLimit = clock.after(limitMs, () => fail(new ExchangeTimeout()));
    if (signal?.aborted === true) {
      stop();
      return;
    }
    signal?.addEventListener('abort', stop);

    dispatch(request, {
      onRequestStart: (given) => {
        controller = given;
        // It ended while it waited for a connection.
        if (ended instanceof Error) given.abort(ended);
      },
      onResponseStart: (_controller, receivedStatus, received) => {
        status = receivedStatus;
        headers = received;
      },
      onResponseData: (_controller, chunk) => {
        size += chunk.length;
        if (size > maxWireBytes) fail(new ExchangeTooLarge());
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        const [first] = chunks;
        const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
        if (end(true)) resolve({ status, headers, bytes });
      },
      onResponseError: (_controller, error) => {
        if (end(error)) reject(error);
      },
    });
  });
}

/** No complete answer within the limit. */
export class ExchangeTimeout extends Error {
  override readonly name = 'ExchangeTimeout';
}

/** Whoever asked does not want to know any more. */
export class ExchangeStopped extends Error {
  override readonly name = 'ExchangeStopped';
}

export class ExchangeTooLarge extends Error {
  override readonly name = 'ExchangeTooLarge';
}

type Controller = { readonly abort: (reason: Error) => void };

type Handler = {
  readonly onRequestStart: (controller: Controller) => void;
  readonly onResponseStart: (controller: Controller, status: number, headers: ReceivedHeaders) => void;
  readonly onResponseData: (controller: Controller, chunk: Buffer) => void;
  readonly onResponseEnd: () => void;
  readonly onResponseError: (controller: Controller, error: Error) => void;
};
