import type { Request, Response } from 'express';
import { type Answer, toCostMs, toListingMs } from '../answers/answer.ts';
import { toDate } from '../answers/dates.ts';
import type { Member } from '../world/installation.ts';
import type { World } from '../world/world.ts';

/** One HTTP request, with the facts that its handlers need. */
export type Exchange = {
  readonly world: World;
  readonly member: Member;
  readonly nowMs: number;
  readonly url: URL;
  readonly baseUrl: string;
  readonly log: SimulatorRequest;
  /** A fault that changes the body while it is sent. */
  spoil: ((response: Response, body: Buffer) => void) | undefined;
};

export function setExchange(response: Response, exchange: Exchange): void {
  response.locals['exchange'] = exchange;
}

export function exchangeOf(response: Response): Exchange {
  // This cast is safe: the first middleware sets the exchange.
  return response.locals['exchange'] as Exchange;
}

/** Sends an answer, with the clock of the member in the Date header. */
export function send(request: Request, response: Response, answer: Answer): void {
  const exchange = exchangeOf(response);
  response.status(answer.status);
  exchange.log.status = answer.status;
  exchange.log.listed = answer.listed ?? 0;
  exchange.log.costMs = toCostMs(`${exchange.url.pathname}${exchange.url.search}`, answer);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  const [body, contentType] = toBody(answer);
  if (contentType !== undefined) response.setHeader('Content-Type', contentType);
  if (exchange.spoil !== undefined && request.method === 'GET') {
    exchange.spoil(response, body);
    return;
  }
  if (answer.breaksOff === true) {
    response.write(body, () => response.destroy());
    return;
  }
  const listingMs = toListingMs(answer);
  if (listingMs < 1) {
    response.end(body);
    return;
  }
  const timer = setTimeout(() => response.end(body), listingMs);
  response.once('close', () => clearTimeout(timer));
}

export function html(title: string): string {
  return `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
}

export function httpDate(nowMs: number): string {
  return new Date(Date.parse(toDate(nowMs))).toUTCString();
}

function toBody({ json, text, contentType }: Answer): [Buffer, string | undefined] {
  if (json !== undefined) return [Buffer.from(JSON.stringify(json)), contentType ?? 'application/json;charset=UTF-8'];
  return [Buffer.from(text ?? ''), text === undefined ? undefined : (contentType ?? 'text/plain;charset=utf-8')];
}

/** One request to the simulated server, without credentials. */
export type SimulatorRequest = {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  status: number;
  /** The number of items that were listed in memory for the answer. */
  listed: number;
  /** How long a real server would work for the request, in ms; the simulator does not wait. */
  costMs: number;
  endpointKnown: boolean;
  readonly accept: string | undefined;
  readonly auth: 'token' | 'query' | 'bearer' | 'cookie' | 'none';
};

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Keeps the newest requests, up to `limit`. Calls `listen` for each request before it is answered. */
export function createRequestLog(limit: number, listen: (request: SimulatorRequest) => void = () => {}) {
  let requests: SimulatorRequest[] = [];
  return {
    add: (request: SimulatorRequest): void => {
      listen(request);
      requests.push(request);
      if (requests.length >= limit * 2) requests = requests.slice(-limit);
    },
    all: (): readonly SimulatorRequest[] => requests.slice(-limit),
  };
}
