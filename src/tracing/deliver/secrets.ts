import type { OtlpSettings, SentHeader } from './settings.ts';

/**
 * Lists the secrets of how traces are sent, which must never be shown. Values too short to be a secret, such as the name of a
 * tenant, are not listed: replacing them would only damage sentences.
 */
export function secretsOf({ headers, endpoint }: Pick<OtlpSettings, 'headers' | 'endpoint'>): readonly string[] {
  return [...secretsOfHeaders(headers), ...secretsOfQuery(endpoint)];
}

const minSecretLength = 4;

/** Values, and what follows the scheme in those of `Bearer …` and the like. */
function secretsOfHeaders(headers: readonly SentHeader[]): readonly string[] {
  const forms = headers.flatMap(({ value }) => {
    const text = value.reveal();
    const [, credentials] = /^[A-Za-z]+ +(\S.*)$/.exec(text) ?? [];
    return credentials === undefined ? [text] : [text, credentials];
  });
  return forms.filter(({ length }) => length >= minSecretLength);
}

/**
 * Lists secrets of the address, which an OTLP endpoint may quote in an error: each pair of the query, and long values by
 * themselves.
 */
function secretsOfQuery(endpoint: string): readonly string[] {
  const { search, searchParams } = new URL(endpoint);
  const pairs = search.slice(1).split('&');
  const long = [...searchParams.values()].filter(({ length }) => length >= minKeyLength);
  return [...pairs.filter(({ length }) => length >= minSecretLength), ...long];
}

/** Shorter values may be words that stand elsewhere with right. */
const minKeyLength = 16;
