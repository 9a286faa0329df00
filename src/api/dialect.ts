/** The two sets of names that servers with this API use. */
const dialects = ['service', 'rundeck'] as const;
export type Dialect = (typeof dialects)[number];

/** Returns the dialect from the headers of an error response. Compares whole names, because proxies add similar headers. */
export function dialectOfHeaders(headers: Readonly<Record<string, string>>): Dialect | undefined {
  return dialects.find((dialect) => `x-${dialect}-api-version` in headers);
}
