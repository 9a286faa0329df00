import { describeFound, didYouMean, quote } from '../../domain/complaint.ts';
import type { BcryptHash } from '../../domain/web-config.ts';
import { isMap, readPart, structured } from './structure.ts';
import { choice, parsedText, type ValueType } from './value-type.ts';

export function pemText(): ValueType<string, 'plain'> {
  return parsedText((found) => (found.includes('-----BEGIN ') ? { value: found } : { problem: 'is not PEM' }), {
    takes: 'a text in PEM',
    examples: [],
    placeholder: 'PEM',
    format: () => '<secret>',
  });
}

export function choices<const W extends string>(takes: string, words: readonly W[]): ValueType<readonly W[], 'plain'> {
  const word = choice(...words);
  return structured(
    (found, add) => {
      if (!Array.isArray(found)) return undefined;
      return found.flatMap((raw: unknown, index) => readPart(word, raw, [index], add) ?? []);
    },
    {
      takes,
      example: `[${words[0]}]`,
      placeholder: 'NAME,…',
      fromText: (text) => text.split(','),
      format: (list) => list,
      jsonSchema: { type: 'array', items: { enum: words } },
    },
  );
}

/** The response headers that can be set; some only with these values. */
const headerValues = {
  'Content-Security-Policy': undefined,
  'Strict-Transport-Security': undefined,
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': undefined,
} as const;

const headerNames = Object.keys(headerValues);

/** Response headers by name; one without a value keeps the exporter's own value. */
export const responseHeaders: ValueType<ReadonlyMap<string, string>, 'plain'> = structured(
  (found, add) => {
    if (!isMap(found)) return undefined;
    const headers = new Map<string, string>();
    for (const [name, value] of Object.entries(found)) {
      if (!isHeader(name)) {
        const hint = didYouMean(name, headerNames) ?? `known here: ${headerNames.join(', ')}`;
        add({ path: [name], message: 'is not a header that can be set', hint, atKey: true });
      } else if (value === null || value === '') continue;
      else if (typeof value !== 'string') add({ path: [name], message: `takes a text, found ${describeFound(value)}` });
      else if (!/^[\x20-\x7e]{1,4096}$/.test(value))
        add({ path: [name], message: 'holds a character that is not allowed in a header, or too many' });
      else if (headerValues[name]?.some((allowed) => allowed === value) === false)
        add({ path: [name], message: `takes ${headerValues[name]?.join(' or ')}, found the text ${quote(value)}` });
      else headers.set(name, value);
    }
    return headers;
  },
  {
    takes: 'a map of headers',
    example: '{ Strict-Transport-Security: max-age=31536000 }',
    placeholder: 'JSON',
    fromText: (text) => text,
    format: (headers) => Object.fromEntries(headers),
    jsonSchema: { type: 'object', propertyNames: { enum: headerNames }, additionalProperties: { type: 'string' } },
  },
);

function isHeader(name: string): name is keyof typeof headerValues {
  return Object.hasOwn(headerValues, name);
}

/** A login with a higher cost would take a minute. */
const highestCost = 16;
const howToHash = 'htpasswd -nBC 10 NAME prints one';

export const basicAuthUsers: ValueType<ReadonlyMap<string, BcryptHash>, 'plain'> = structured(
  (found, add) => {
    if (!isMap(found)) return undefined;
    const users = new Map<string, BcryptHash>();
    for (const [name, value] of Object.entries(found)) {
      if (!/^[^:\p{Cc}]{1,256}$/u.test(name))
        add({ path: [name], message: 'is not a user name', hint: 'it must not have a colon', atKey: true });
      const hash = typeof value === 'string' ? parseBcryptHash(value) : undefined;
      if (hash === undefined)
        add({ path: [name], message: 'is not a bcrypt hash of the form $2y$10$…', hint: howToHash });
      else if (hash.cost > highestCost)
        add({
          path: [name],
          message: `has the cost ${hash.cost}`,
          hint: `at most ${highestCost}: each step doubles the time`,
        });
      else users.set(name, hash);
    }
    return users;
  },
  {
    takes: 'a map of users with the hashes of their passwords',
    example: '{ prometheus: $2y$10$… }',
    placeholder: 'JSON',
    fromText: (text) => text,
    format: (users) => Object.fromEntries([...users.keys()].map((name) => [name, '<secret>'])),
    jsonSchema: { type: 'object', additionalProperties: { type: 'string' } },
  },
);

/** Reads `$2y$10$…`, also `$2a$` and `$2b$`; undefined for anything else. */
export function parseBcryptHash(text: string): BcryptHash | undefined {
  const [, digits = '', salt = '', digest = ''] = form.exec(text) ?? [];
  const cost = Number(digits);
  if (salt === '' || cost < 4 || cost > 31) return undefined;
  return { cost, salt: decode(salt), digest: decode(digest) };
}

const form = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Six bits a letter; the rest of the last byte is ignored. */
function decode(text: string): Uint8Array {
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(6, '0')).join('');
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
}
