import type { Clock } from '../../domain/clock.ts';
import type { Endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import type { LargeBody, TransportAnswer } from '../wire/transport.ts';
import { type AnswerContext, readAnswer, scrubForms, toShort } from './classify.ts';
import { type Inflated, InflatedTooLarge, inflate } from './inflate.ts';
import { parseInPieces, TooManyValues } from './json-pieces.ts';

/** Limits large responses of all servers: at most four bodies are received and one is decoded at the same time. */
export type LargeAnswers = {
  /** Waits until one more body may be received. Resolves to a function that must be called afterwards. */
  readonly enter: () => Promise<() => void>;
  /** Decodes a response in pieces, with turns of the event loop between them. */
  readonly read: <Answer>(endpoint: Endpoint<Answer>, answer: LargeAnswer, context: AnswerContext) => Promise<Answer>;
};

type LargeAnswer = TransportAnswer & { readonly large: LargeBody };

const maxBodies = 4;

export function createLargeAnswers({ clock }: { clock: Pick<Clock, 'nextTurn'> }): LargeAnswers {
  const bodies = createGate(maxBodies);
  const turns = createGate(1);

  async function decode<Answer>(endpoint: Endpoint<Answer>, { large, ...answer }: LargeAnswer, context: AnswerContext) {
    const { bytes, free } = await unpack(large, endpoint);
    try {
      const scrubbed = scrubBytes(bytes, context.secretForms);
      if (endpoint.mayBeText && !isJson(scrubbed)) {
        return readAnswer(endpoint, { ...answer, body: scrubbed.toString('utf8') }, context);
      }
      const refine = (value: unknown, text: string): unknown => toShort(value, text, endpoint, context);
      const json = await parseInPieces(scrubbed, { pause: clock.nextTurn, refine }).catch((error: unknown) => {
        if (error instanceof SyntaxError) return undefined;
        throw error;
      });
      // An error message quotes only the start of a body that is not JSON.
      const body = scrubbed.toString('utf8', 0, beginning);
      return readAnswer(endpoint, { ...answer, body }, context, json);
    } finally {
      free();
    }
  }

  return {
    enter: bodies.enter,
    read: async (endpoint, answer, context) => {
      const leave = await turns.enter();
      try {
        const decoded = await decode(endpoint, answer, context);
        // Decoding a large response takes a whole turn of the event loop.
        await clock.nextTurn();
        return decoded;
      } catch (error) {
        throw toApiError(error, endpoint, answer.status);
      } finally {
        answer.large.release();
        leave();
      }
    },
  };
}

/** Limits one server to one body at a time, so that its members wait for each other. */
export function toShareOfServer({ enter, read }: LargeAnswers): LargeAnswers {
  const own = createGate(1);
  return {
    enter: async () => {
      const leaveOwn = await own.enter();
      const leave = await enter();
      return () => {
        leaveOwn();
        leave();
      };
    },
    read,
  };
}

type Reply = { reply: TransportAnswer; context: AnswerContext };

export async function readReply<Answer>(
  largeAnswers: LargeAnswers | undefined,
  endpoint: Endpoint<Answer>,
  { reply, context }: Reply,
): Promise<Answer> {
  const { large } = reply;
  if (large === undefined) return readAnswer(endpoint, reply, context);
  if (largeAnswers !== undefined) return largeAnswers.read(endpoint, { ...reply, large }, context);
  large.release();
  const { name: apiEndpoint } = endpoint;
  throw new ApiError(`GET ${apiEndpoint}: no memory left for large answers`, { kind: 'too_large', apiEndpoint });
}

const beginning = 4096;

async function unpack({ bytes, isGzip }: LargeBody, { maxBytes }: Endpoint<unknown>): Promise<Inflated> {
  return isGzip ? inflate(bytes, maxBytes) : { bytes, free: () => undefined };
}

function isJson(bytes: Buffer): boolean {
  return /^\uFEFF?\s*[[{]/.test(bytes.toString('utf8', 0, beginning));
}

function scrubBytes(bytes: Buffer, forms: readonly string[] = []): Buffer {
  return forms.some((form) => bytes.includes(form)) ? Buffer.from(scrubForms(bytes.toString('utf8'), forms)) : bytes;
}

function toApiError(error: unknown, { name, maxBytes }: Endpoint<unknown>, status: number): unknown {
  const { code } = error as { code?: unknown };
  const details = { kind: 'too_large', apiEndpoint: name, status } as const;
  if (error instanceof TooManyValues) {
    return new ApiError(`GET ${name}: HTTP ${status}, more values than any valid answer`, { ...details, cause: error });
  }
  if (error instanceof InflatedTooLarge) {
    const says = `the answer is too large, more than ${maxBytes / 2 ** 20} MB`;
    return new ApiError(`GET ${name}: ${says}`, { ...details, cause: error });
  }
  if (typeof code !== 'string' || !code.startsWith('Z_')) return error;
  const says = `HTTP ${status}, the compressed answer is damaged (${code})`;
  return new ApiError(`GET ${name}: ${says}`, { ...details, kind: 'decode', cause: error });
}

/** Admits a number of callers at the same time. Other callers wait in order. */
function createGate(places: number) {
  const waiting: (() => void)[] = [];
  let free = places;

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    /** Resolves to a function that lets the next caller enter. The function may be called more than once. */
    enter: async (): Promise<() => void> => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isIn = true;
      return () => {
        if (isIn) leave();
        isIn = false;
      };
    },
  };
}
