/** One request the service saw. Values of credentials are never kept. */
export type SimulatorRequest = {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  status: number;
  /** How much was listed in memory for the answer. */
  listed: number;
  endpointKnown: boolean;
  readonly accept: string | undefined;
  readonly auth: 'token' | 'query' | 'bearer' | 'cookie' | 'none';
};

export type RequestLog = {
  add(request: SimulatorRequest): void;
  all(): readonly SimulatorRequest[];
  clear(): void;
};

/** Keeps the newest requests, at most `limit`; `listen` hears of each before it is answered. */
export function createRequestLog(limit: number, listen: (request: SimulatorRequest) => void = () => {}): RequestLog {
  let requests: SimulatorRequest[] = [];
  return {
    add: (request) => {
      listen(request);
      requests.push(request);
      if (requests.length >= limit * 2) requests = requests.slice(-limit);
    },
    all: () => requests.slice(-limit),
    clear: () => {
      requests = [];
    },
  };
}
