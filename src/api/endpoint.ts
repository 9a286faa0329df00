import type { z } from 'zod';

/** One GET of the API as data. The client can ask for nothing else: some GETs of this API change things. */
export type Endpoint<Answer> = {
  /** The value of `api_endpoint` in metrics and of `endpoint` in log lines. */
  readonly name: string;
  /** What follows `api/{version}/`. */
  readonly path: string;
  /** The smallest API version that has it. */
  readonly since: number;
  /** The line of an access policy that allows it. */
  readonly allowedBy: string;
  /** Statuses beside 200 whose body is an answer, if it decodes. */
  readonly alsoAnswers: readonly number[];
  readonly body: z.ZodType<Answer>;
};

export type EndpointDefinition<Answer> = Omit<Endpoint<Answer>, 'alsoAnswers'> & {
  readonly alsoAnswers?: readonly number[];
};

export function defineEndpoint<Answer>(definition: EndpointDefinition<Answer>): Endpoint<Answer> {
  return { alsoAnswers: [], ...definition };
}

/** In the application's context (Document A, section 5). */
export const systemRead = 'resource: [{ equals: { kind: system }, allow: [read] }]';
