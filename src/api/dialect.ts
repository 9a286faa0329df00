/** The two sets of names in this API. */
const dialects = ['service', 'rundeck'] as const;
export type Dialect = (typeof dialects)[number];

/** Returns the dialect of an error response. Whole names of headers are compared, because proxies add similar names. */
export function dialectOfHeaders(headers: Readonly<Record<string, string>>): Dialect | undefined {
  return dialects.find((dialect) => `x-${dialect}-api-version` in headers);
}
