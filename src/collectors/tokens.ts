import { tokens } from '../api/endpoints/tokens.ts';
import { toDuration } from '../domain/ages.ts';
import { earliestGauge, gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

type Token = { readonly expiration?: number | undefined; readonly expired?: boolean | undefined };

/** The limit of the alert. */
const soonMs = 7 * 86_400_000;
const maxNamed = 5;

export const tokensCollector = defineCollector({
  name: 'tokens',
  help: 'API tokens visible to the credentials: number of valid and expired tokens, and expiration times',
  every: '10m',
  on: true,
  reads: [tokens],
  metrics: {
    expiration: earliestGauge(
      'automation_token_expiration_timestamp_seconds',
      'Expiration time of an API token. Of tokens with the same name or none, the valid token that expires first counts; if none is valid, the last to expire [tokens, expiration].',
      'name',
    ),
    tokens: gauge(
      'automation_tokens',
      'API tokens visible to the credentials, by state: valid or expired [tokens, expired].',
      'state',
    ),
  },
  fetch: (api) => api.getTimed(tokens),
  complaints: ({ answer, midRequestMs }) => {
    const isSoon = ({ expiration = 0 }: (typeof answer)[number]): boolean =>
      expiration > midRequestMs && expiration - midRequestMs < soonMs;
    const soon = answer.filter(isSoon).map(({ name = '', expiration = 0 }) => {
      return `the API token ${name === '' ? 'without a name' : name} expires in ${toDuration(expiration - midRequestMs)}`;
    });
    return [...new Set(soon)].slice(0, maxNamed);
  },
  map: ({ answer, midRequestMs }, { expiration, tokens: count }) => {
    const isExpired = (token: Token): boolean => token.expired ?? (token.expiration ?? Infinity) <= midRequestMs;
    const expired = answer.filter(isExpired).length;
    return [
      ...[...Map.groupBy(answer, ({ name }) => name ?? '')].flatMap(([name, sameName]) => {
        const valid = sameName.filter((token) => !isExpired(token));
        const ends = (valid.length > 0 ? valid : sameName).flatMap(({ expiration: ms }) => ms ?? []);
        // A replaced token stays in the list after its expiration, and must not hide the new one, which may have no expiration.
        const ms = valid.length > 0 ? Math.min(...ends) : Math.max(...ends);
        return expiration.rows(Number.isFinite(ms) ? ms / 1000 : undefined, { name });
      }),
      ...count.rows(answer.length - expired, { state: 'valid' }),
      ...count.rows(expired, { state: 'expired' }),
    ];
  },
});
