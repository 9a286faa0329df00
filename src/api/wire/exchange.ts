import type { Clock } from '../../domain/clock.ts';

export type Dispatch<Request> = (request: Request, handler: Handler) => unknown;

export type Received = {
  readonly status: number;
  readonly headers: ReceivedHeaders;
  readonly bytes: Buffer;
  /** True if the response exceeds the limit: `bytes` contains only its start. */
  readonly isCut: boolean;
  /** Frees the place for a large response. */
  readonly release: () => void;
};

export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type Limits = {
  /** The limit of the time from the first byte sent, or from the wait for a connection, to the last byte of the response. */
  readonly limitMs: number;
  readonly maxWireBytes: number;
  /** True if the caller needs only the start of a response that is too large. */
  readonly cutsAnswers?: boolean;
  /** A larger response waits for a place. */
  readonly largeBytes?: number;
  readonly enter?: (() => Promise<() => void>) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'after'>;
  /** Called when the request is written to a connection. Before the call, the server cannot have received anything. */
  readonly onSent?: (() => void) | undefined;
};

/** Sends one request and collects its response in chunks; a stream and a combined signal would cost 50 % more. */
export function exchange<Request>(
  dispatch: Dispatch<Request>,
  request: Request,
  { limitMs, maxWireBytes, cutsAnswers = false, largeBytes = maxWireBytes, enter, signal, clock, onSent }: Limits,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const body = createBody();
    const room = createRoom(enter);
    let status = 0;
    let headers: ReceivedHeaders = {};
    let controller: Controller | undefined;
    let ended: Error | true | undefined;

    /** Ends the exchange once. Later events of the dispatcher are ignored. */
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
      body.drop();
      room.release();
      reject(error);
    }
    function stop(): void {
      fail(new ExchangeStopped());
    }
    function stopReading(given: Controller): void {
      if (!cutsAnswers) {
        fail(new ExchangeTooLarge());
      } else if (end(true)) {
        const bytes = body.take().subarray(0, maxWireBytes);
        given.abort(new ExchangeTooLarge());
        resolve({ status, headers, bytes, isCut: true, release: room.release });
      }
    }
    const cancelLimit = clock.after(limitMs, () => fail(new ExchangeTimeout()));
    if (signal?.aborted === true) return stop();
    signal?.addEventListener('abort', stop);

    dispatch(request, {
      onRequestStart: (given) => {
        controller = given;
        // The exchange ended while it waited for a connection.
        if (ended instanceof Error) given.abort(ended);
        else onSent?.();
      },
      onResponseStart: (_controller, receivedStatus, received) => {
        status = receivedStatus;
        headers = received;
      },
      onResponseData: (given, chunk) => {
        const size = body.add(chunk);
        if (size > maxWireBytes) stopReading(given);
        else if (size > largeBytes) room.wait(given);
      },
      onResponseEnd: () => {
        const bytes = body.take();
        if (end(true)) resolve({ status, headers, bytes, isCut: false, release: room.release });
      },
      onResponseError: (_controller, error) => {
        // A server that refuses a request may close the connection in the middle of its response.
        const isRefused = status >= 400;
        if (!end(isRefused || error)) return;
        if (isRefused) {
          resolve({ status, headers, bytes: body.take(), isCut: true, release: room.release });
          return;
        }
        room.release();
        reject(error);
      },
    });
  });
}

function createBody() {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk: Buffer): number => {
      size += chunk.length;
      chunks.push(chunk);
      return size;
    },
    take: (): Buffer => {
      const [first] = chunks;
      const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
      chunks.length = 0;
      return bytes;
    },
    drop: (): void => {
      chunks.length = 0;
    },
  };
}

/** Waits for a place for a large response. Nothing is read during the wait, but the time limit applies. */
function createRoom(enter: Limits['enter']) {
  let isWaiting = false;
  let isOver = false;
  let leave: (() => void) | undefined;
  return {
    wait: (controller: Controller): void => {
      if (enter === undefined || isWaiting) return;
      isWaiting = true;
      controller.pause();
      void enter().then((given) => {
        leave = given;
        if (isOver) given();
        else controller.resume();
      });
    },
    release: (): void => {
      isOver = true;
      leave?.();
    },
  };
}

export class ExchangeTimeout extends Error {
  override readonly name = 'ExchangeTimeout';
}

export class ExchangeStopped extends Error {
  override readonly name = 'ExchangeStopped';
}

class ExchangeTooLarge extends Error {
  override readonly name = 'ExchangeTooLarge';
}

type Controller = { abort: (reason: Error) => void; pause: () => void; resume: () => void };

type Handler = {
  onRequestStart: (controller: Controller) => void;
  onResponseStart: (controller: Controller, status: number, headers: ReceivedHeaders) => void;
  onResponseData: (controller: Controller, chunk: Buffer) => void;
  onResponseEnd: () => void;
  onResponseError: (controller: Controller, error: Error) => void;
};
