import * as z from 'zod';
import { didYouMean, quote } from '../../domain/complaint.ts';
import type { BcryptHash } from '../../domain/web-config.ts';
import { map } from './maps.ts';
import { parsedText, plain, takes, withHint } from './value-type.ts';

export const pemText = parsedText(
  (found) => (found.includes('-----BEGIN ') ? { value: found } : { problem: 'is not PEM' }),
  { takes: 'a text in PEM' },
);

/** The response headers that can be set. Some headers have only a few possible values. */
const headerValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['Content-Security-Policy', []],
  ['Strict-Transport-Security', []],
  ['X-Content-Type-Options', ['nosniff']],
  ['X-Frame-Options', ['deny', 'sameorigin']],
  ['X-XSS-Protection', []],
]);

const headers = map(
  z
    .string(takes('a text'))
    .regex(/^[\x20-\x7e]{0,4096}$/, 'contains a character that is not allowed in a header, or too many')
    .nullable(),
  {
    takes: 'a map of headers',
    example: '{ Strict-Transport-Security: max-age=31536000 }',
    findProblem: (name) => {
      if (headerValues.has(name)) return undefined;
      const known = `known here: ${[...headerValues.keys()].join(', ')}`;
      return withHint('is not a header that can be set', didYouMean(name, headerValues.keys()) ?? known);
    },
  },
);

/** Response headers by name. A header without a value keeps the exporter's own value. */
export const responseHeaders = plain(
  headers
    .superRefine(
      (given, context) => {
        for (const [name, value] of given) {
          const allowed = headerValues.get(name) ?? [];
          if (!value || allowed.length === 0 || allowed.includes(value)) continue;
          const message = `takes ${allowed.join(' or ')}, found the text ${quote(value)}`;
          context.addIssue({ code: 'custom', path: [name], message });
        }
      },
      { when: ({ value }) => value instanceof Map },
    )
    .transform((given): ReadonlyMap<string, string> => {
      return new Map([...given].flatMap(([name, value]) => (value ? [[name, value] as const] : [])));
    }),
);

/** The maximum cost of a bcrypt hash. With a higher cost, a login would take a minute. */
const maxCost = 16;

const hash = z.unknown().transform((found, context): BcryptHash => {
  const parsed = typeof found === 'string' ? parseBcryptHash(found) : undefined;
  if (parsed !== undefined && parsed.cost <= maxCost) return parsed;
  context.addIssue(
    parsed === undefined
      ? 'is not a bcrypt hash of the form $2y$10$… (htpasswd -nBC 10 NAME prints one)'
      : `has the cost ${parsed.cost} (at most ${maxCost}: each step doubles the time)`,
  );
  return z.NEVER;
});

export const basicAuthUsers = plain(
  map(hash, {
    takes: 'a map of users with the hashes of their passwords',
    example: '{ prometheus: $2y$10$… }',
    findProblem: (name) =>
      /^[^:\p{Cc}]{1,256}$/u.test(name) ? undefined : 'is not a user name (it must not have a colon)',
  }),
);

/** Reads `$2y$10$…`, `$2a$` and `$2b$`. Returns undefined for other text. */
export function parseBcryptHash(text: string): BcryptHash | undefined {
  const [, digits = '', salt = '', digest = ''] = form.exec(text) ?? [];
  const cost = Number(digits);
  if (salt === '' || cost < 4 || cost > 31) return undefined;
  return { cost, salt: decode(salt), digest: decode(digest) };
}

const form = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Decodes six bits for each letter. The rest of the last byte is ignored. */
function decode(text: string): Uint8Array {
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(6, '0')).join('');
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
}
