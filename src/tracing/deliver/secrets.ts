import type { SentHeader } from './headers.ts';
import type { OtlpSettings } from './settings.ts';

/**
 * What must never be shown of how traces are sent. What is too short to be a secret, such as the name of a tenant, would
 * only tear holes into sentences.
 */
export function secretsOf({ headers, endpoint }: Pick<OtlpSettings, 'headers' | 'endpoint'>): readonly string[] {
  return [...secretsOfHeaders(headers), ...secretsOfQuery(endpoint)];
}

const shortestSecret = 4;

/** Values, and what follows the scheme in those of `Bearer …` and the like. */
function secretsOfHeaders(headers: readonly SentHeader[]): readonly string[] {
  const forms = headers.flatMap(({ value }) => {
    const text = value.reveal();
    const [, credentials] = /^[A-Za-z]+ +(\S.*)$/.exec(text) ?? [];
    return credentials === undefined ? [text] : [text, credentials];
  });
  return forms.filter(({ length }) => length >= shortestSecret);
}

/** Collectors name the address that they do not know, and a key may be part of it: each pair, and long values alone. */
function secretsOfQuery(endpoint: string): readonly string[] {
  const { search, searchParams } = new URL(endpoint);
  const pairs = search.slice(1).split('&');
  const long = [...searchParams.values()].filter(({ length }) => length >= shortestKey);
  return [...pairs.filter(({ length }) => length >= shortestSecret), ...long];
}

/** Shorter values may be words that stand elsewhere with right. */
const shortestKey = 16;
