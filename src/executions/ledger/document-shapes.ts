import { z } from 'zod';

/** Reports whether a stored document of executions has the expected shape. Other rooms check their own documents. */
export function isSoundDocument(kind: string, body: unknown): boolean {
  return shapes.get(kind)?.safeParse(body).success !== false;
}

const numbers = z.array(z.number());
/** JSON stores an infinite time as null. */
const time = z.number().nullable();
const window = z.object({ beginMs: z.number(), endMs: z.number() });
const run = z.object({ id: z.number(), project: z.string(), name: z.string(), startedAtMs: time, endedAtMs: time });

/** Checks only fields that every later release must write. Additional fields are accepted. */
const shapes = new Map<string, z.ZodType>(
  Object.entries({
    server: z.object({
      epoch: z.number(),
      epochStartedAtMs: time,
      formerThroughMs: z.number().optional(),
      uncountedThroughMs: z.number().optional(),
      formerThroughId: z.number().optional(),
      oneTimeIds: numbers.optional(),
      buckets: numbers.optional(),
      leap: window.optional(),
      skewMs: z.number().optional(),
      countedSinceMs: z.number().optional(),
      reachedMs: z.number().optional(),
      slowClocks: z.array(z.object({ byMs: z.number(), seenAtMs: z.number() })).optional(),
    }),
    project: z.object({
      project: z.string(),
      countedFromMs: time,
      scannedThroughMs: time,
      comparedWeekAtMs: z.number().optional(),
      aheadThroughMs: z.number().optional(),
      againFromMs: z.number().optional(),
      backlog: z.array(window).optional(),
      skips: z.array(window).optional(),
      earlier: z.object({ untilMs: time, throughId: z.number() }).optional(),
    }),
    cell: z.object({
      kind: z.string(),
      labels: z.array(z.string()),
      count: z.number(),
      sumSeconds: z.number().optional(),
      buckets: numbers.optional(),
      native: z.object({ schema: z.number(), zeros: z.number(), buckets: numbers }).optional(),
      before: z.object({ counts: numbers, sum: z.number(), count: z.number() }).optional(),
      isReleased: z.boolean(),
    }),
    job: z.object({ project: z.string(), group: z.string(), name: z.string(), lastEndMs: time, lastId: z.number() }),
    'id-hour': z.object({ hour: z.number(), leastId: z.number().optional(), greatestId: z.number().optional() }),
    failure: z.object({
      project: z.string(),
      group: z.string(),
      name: z.string(),
      failureClass: z.string().optional(),
    }),
    recent: z.union([z.array(run), run]),
  }),
);
