/** The two sets of names that servers of this API use. */
export const dialects = ['service', 'rundeck'] as const;
export type Dialect = (typeof dialects)[number];

/** The dialect that an answer's headers give away; errors carry such a header, successes mostly do not. */
export function dialectOfHeaders(headers: Readonly<Record<string, string>>): Dialect | undefined {
  return dialects.find((dialect) => Object.keys(headers).some((name) => name.startsWith(`x-${dialect}-`)));
}
