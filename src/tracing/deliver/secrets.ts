import type { OtlpSettings, SentHeader } from './settings.ts';

/**
 * Lists the secrets in the settings of delivery, which must never be shown. Omits values too short to be a secret, such
 * as the name of a tenant: replacing them would only damage messages.
 */
export function secretsOf({ headers, endpoint }: Pick<OtlpSettings, 'headers' | 'endpoint'>): readonly string[] {
  return [...secretsOfHeaders(headers), ...secretsOfQuery(endpoint)];
}

const minSecretLength = 4;

/** Lists values of headers, and what follows the scheme in values such as `Bearer …`. */
function secretsOfHeaders(headers: readonly SentHeader[]): readonly string[] {
  const forms = headers.flatMap(({ value }) => {
    const text = value.reveal();
    const [, credentials] = /^[A-Za-z]+ +(\S.*)$/.exec(text) ?? [];
    return credentials === undefined ? [text] : [text, credentials];
  });
  return forms.filter(({ length }) => length >= minSecretLength);
}

/**
 * Lists secrets in the address, which an OTLP endpoint may quote in an error: each pair of the query, and long values
 * on their own.
 */
function secretsOfQuery(endpoint: string): readonly string[] {
  const { search, searchParams } = new URL(endpoint);
  const pairs = search.slice(1).split('&');
  const long = [...searchParams.values()].filter(({ length }) => length >= minKeyLength);
  return [...pairs.filter(({ length }) => length >= minSecretLength), ...long];
}

/** Shorter values may be ordinary words. */
const minKeyLength = 16;
