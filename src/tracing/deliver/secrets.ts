import type { OtlpSettings, SentHeader } from './settings.ts';

/** Lists the secrets in the settings of delivery. Short values are omitted, because replacing them would damage messages. */
export function secretsOf({ headers, endpoint }: Pick<OtlpSettings, 'headers' | 'endpoint'>): readonly string[] {
  return [...secretsOfHeaders(headers), ...secretsOfQuery(endpoint)];
}

const minSecretLength = 4;

/** Lists the values of headers, and the part after the scheme of values such as `Bearer …`. */
function secretsOfHeaders(headers: readonly SentHeader[]): readonly string[] {
  const forms = headers.flatMap(({ value }) => {
    const text = value.reveal();
    const [, credentials] = /^[A-Za-z]+ +(\S.*)$/.exec(text) ?? [];
    return credentials === undefined ? [text] : [text, credentials];
  });
  return forms.filter(({ length }) => length >= minSecretLength);
}

/** Lists secrets in the URL, which an endpoint may quote in an error. */
function secretsOfQuery(endpoint: string): readonly string[] {
  const { search, searchParams } = new URL(endpoint);
  const pairs = search.slice(1).split('&');
  const long = [...searchParams.values()].filter(({ length }) => length >= minKeyLength);
  return [...pairs.filter(({ length }) => length >= minSecretLength), ...long];
}

/** The minimum length of a secret, because shorter values may be ordinary words. */
const minKeyLength = 16;

/** Returns a function that makes a short line of a message. Secrets are removed first, because half a secret is not recognized. */
export function createShorten(scrub: (text: string) => string): (text: string) => string {
  return (text) => {
    const line = scrub(text)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim();
    return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength - 1)}…` : line;
  };
}

/** The maximum length: the status and 200 characters of the message. */
const maxReasonLength = 210;
