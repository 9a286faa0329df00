import { gzipSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import * as z from 'zod';
import type { Answer } from './answers/answer.ts';
import { exchangeOf, html, send } from './routes/exchange.ts';

export const faultKinds = [
  'slow',
  'hang',
  'refuse',
  'drip',
  'cut',
  'huge',
  'bomb',
  'garbage',
  'html',
  'empty',
  'status',
  'redirect',
] as const;

/** A network fault for matching paths, for a number of requests or until it is cleared. */
export const faultSchema = z
  .strictObject({
    kind: z.enum(faultKinds),
    /** A regular expression for the path; if absent, all paths match. */
    path: z.string(),
    times: z.number(),
    /** The status of the kind `status`; 500 if absent. */
    status: z.number(),
    retryAfter: z.string(),
    /** The delay of the kind `slow`, and the pause between the bytes of the kind `drip`. */
    ms: z.number(),
    bytes: z.number(),
    location: z.string(),
    /** Replaces the body of the kinds `garbage`, `html` and `status`. */
    body: z.string(),
    /** Limits the fault to every n-th matching request, for example 2 for half of them. */
    everyNth: z.number(),
  })
  .exactPartial()
  .required({ kind: true });

export type Fault = Readonly<z.infer<typeof faultSchema>>;

export type Faults = ReturnType<typeof createFaults>;

export function createFaults() {
  let entries: Entry[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer);
  };
  return {
    add: (fault: Fault): (() => void) => {
      const left = fault.times ?? Number.POSITIVE_INFINITY;
      const entry: Entry = { fault, pattern: new RegExp(fault.path ?? ''), left, seen: 0 };
      entries.push(entry);
      return () => {
        entries = entries.filter((other) => other !== entry);
      };
    },
    clear: (): void => {
      entries = [];
    },
    list: (): readonly Fault[] => entries.map(({ fault }) => fault),
    handle: (request: Request, response: Response, next: NextFunction): void => {
      const entry = entries.find((candidate) => isDue(candidate, request.path));
      if (entry === undefined) {
        next();
        return;
      }
      entry.left -= 1;
      entries = entries.filter((other) => other.left > 0);
      commit(entry.fault, { request, response, next, later });
    },
    stop: (): void => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

type Entry = { readonly fault: Fault; readonly pattern: RegExp; left: number; seen: number };

type Scene = {
  readonly request: Request;
  readonly response: Response;
  readonly next: NextFunction;
  readonly later: (ms: number, act: () => void) => void;
};

function isDue(entry: Entry, path: string): boolean {
  if (!entry.pattern.test(path)) return false;
  entry.seen += 1;
  return entry.seen % (entry.fault.everyNth ?? 1) === 0;
}

function commit(fault: Fault, { request, response, next, later }: Scene): void {
  const exchange = exchangeOf(response);
  switch (fault.kind) {
    case 'slow':
      later(fault.ms ?? 1000, next);
      break;
    case 'hang':
      // A fault of the kind `hang` never sends a response.
      break;
    case 'refuse':
      request.socket.destroy();
      break;
    case 'drip':
      exchange.spoil = (target, body) => drip(target, body, fault.ms ?? 100, later);
      next();
      break;
    case 'cut':
      exchange.spoil = cut;
      next();
      break;
    case 'huge':
      exchange.log.status = 200;
      sendHuge(response, fault.bytes ?? 200_000_000);
      break;
    case 'bomb': {
      exchange.log.status = 200;
      const body = gzipSync(Buffer.alloc(fault.bytes ?? 100_000_000, 0x20));
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(body);
      break;
    }
    case 'garbage':
    case 'html':
    case 'empty':
    case 'redirect':
    case 'status':
      send(request, response, toAnswer(fault, exchange.baseUrl));
  }
}

function toAnswer({ kind, body, ...fault }: Fault, baseUrl: string): Answer {
  if (kind === 'garbage') return { status: 200, text: body ?? '{"broken": [1, 2', contentType: jsonType };
  if (kind === 'html') return { status: 200, text: body ?? html('Please log in'), contentType: htmlType };
  if (kind === 'redirect') return { status: 302, headers: { Location: fault.location ?? `${baseUrl}/user/login` } };
  if (kind === 'empty') return { status: 200 };
  return {
    status: fault.status ?? 500,
    text: body ?? html('Out of order'),
    contentType: body?.startsWith('{') === true ? jsonType : htmlType,
    headers: fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter },
  };
}

const jsonType = 'application/json;charset=UTF-8';
const htmlType = 'text/html;charset=utf-8';

function drip(response: Response, body: Buffer, ms: number, later: Scene['later']): void {
  if (body.length === 0) {
    response.end();
    return;
  }
  response.write(body.subarray(0, 1));
  later(ms, () => drip(response, body.subarray(1), ms, later));
}

/** Announces the whole body, sends half of the body, and closes the connection. */
function cut(response: Response, body: Buffer): void {
  response.setHeader('Content-Length', String(body.length));
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
}

function sendHuge(response: Response, bytes: number): void {
  response.setHeader('Content-Type', jsonType);
  const chunk = Buffer.alloc(65_536, 0x20);
  let left = bytes;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    response.end('{}');
  };
  more();
}
