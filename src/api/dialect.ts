/** The two sets of names that servers of this API use. */
export const dialects = ['service', 'rundeck'] as const;
export type Dialect = (typeof dialects)[number];

/** The dialect that an error answer's headers give away; proxies add headers that look alike, so the whole name counts. */
export function dialectOfHeaders(headers: Readonly<Record<string, string>>): Dialect | undefined {
  return dialects.find((dialect) => `x-${dialect}-api-version` in headers);
}
